from __future__ import annotations

import time

import pytest

from diffspot_hf.scoring.refusals import is_refusal

DECLINES = """
I'm sorry, but I can't help with that.
I’m sorry, I can’t do that.
Sorry, I can't.
I can't view the screenshots.
I cannot view them
I'm afraid I can't see them.
I am not able to view images.
I'm unable to compare these designs.
Unable to comply.
We cannot perform the analysis.
I must decline this task.
I will not assist with comparing people.
I cannot fulfill this request.
I am not permitted to analyse this content.
The screenshots did not load.
It seems the images were not attached.
Your screenshots appear to be missing.
I couldn't open either file.
I don't see any images in your message.
I do not have access to the attachments.
I have no way of viewing pictures.
This request cannot be completed.
It's impossible for me to tell without the images.
As a language model, I cannot see.
No images were provided.
No image provided
Please attach the two screenshots.
That violates our content policy.
Blocked by the safety filter.
You did not attach any screenshots.
I was not given any images.
I only see one image.
Only one image was provided.
The screenshots are too blurry to compare.
The comparison is not possible.
I cannot determine the differences because the images are not visible to me.
Ich kann Bilder leider nicht sehen.
Es tut mir leid, das geht nicht.
Désolé, je ne peux pas vous aider.
Lo siento, no puedo ver las imágenes.
Mi dispiace, non posso aiutarti.
Desculpe, não consigo ver as imagens.
Ik kan deze beelden helaas niet vergelijken.
Извините, я не могу помочь.
对不起，我不能帮助您。
画像が見えません。
죄송합니다, 이미지를 볼 수 없습니다.
""".strip().splitlines()

FINDINGS = """
No issues found.
I cannot see any differences between the screenshots.
I don't see any issues in the images.
I could not find anything wrong with the second screen.
I was unable to spot any discrepancy.
I did not notice any changes.
The avatar image is missing in the second screen.
The hero image did not load in B.
The badge is not visible in the implementation.
The implementation does not display the price.
The menu does not open.
The title cannot be read because it is too light.
The button can't be seen in the second picture.
It is not possible to see a gap any more.
The two screens are identical.
There are no visual differences to report.
Everything matches.
The icon does not provide a label.
Image missing on the card.
The second screen has no way to go back.
I think the images are the same.
The profile photo is broken.
The title is too light to read.
The icon was not given a label.
Ich kann keinen Unterschied sehen.
Je ne peux pas voir de différence.
No puedo ver ninguna diferencia.
我没有看到任何差异。
違いは見つかりません。
""".strip().splitlines()


@pytest.mark.parametrize("text", DECLINES)
def test_declining(text):
    assert is_refusal(text)


@pytest.mark.parametrize("text", FINDINGS)
def test_a_finding_in_prose_is_no_refusal(text):
    assert not is_refusal(text)


def test_a_refusal_at_either_end_of_a_long_reply():
    filler = "The header is blue. " * 2000
    assert is_refusal("I cannot help with that. " + filler)
    assert is_refusal(filler + "I cannot help with that.")
    assert not is_refusal(filler)


@pytest.mark.parametrize("piece", ["i ", "I cannot ", "a.", "the ", "not "])
def test_long_text_takes_no_time(piece):
    start = time.process_time()
    is_refusal(piece * 100_000)
    assert time.process_time() - start < 0.5
