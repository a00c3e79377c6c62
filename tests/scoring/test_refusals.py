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
Sorry, no.
That's not something I can do.
I'd rather not.
The images were not uploaded correctly.
Error: image could not be decoded
I can't do this.
No, I won't do that.
I must decline.
I'm going to have to pass on this one.
Unfortunately I am not able to assist with this request.
I'm unable to view images, so a comparison isn't possible for me.
It seems that no images were attached to your message. Please upload both screenshots so I can compare them.
I don't see any images in our conversation. Could you share them?
There is no image attached.
As a text-based AI, I don't have the ability to see pictures.
As a language model I can only process text.
The image links are broken and I couldn't load them.
The two files could not be opened.
I only received one image. Please send the second one so that I can compare.
Only the first screenshot came through, so I can't compare the two.
Both images are blank, so nothing can be compared.
The pictures did not load on my side.
Error: unable to process image input.
Failed to decode image.
Your request was blocked by our content policy.
This request violates our usage policies.
I'm not comfortable analyzing these images.
I am not allowed to describe these screenshots.
This content may violate our terms, so I can't continue.
Request denied.
Sorry.
Nope, can't help you there.
My apologies, but I'm not equipped to evaluate screenshots.
Please provide the images you want me to compare.
Could you please upload the two screenshots? I don't have them.
I have no way of viewing the screenshots you mention.
Image analysis is not supported by this model.
Vision is disabled for this account.
I lack the capability to inspect visual content.
It is impossible for me to compare the screenshots without seeing them.
The images are too blurry to make out anything, so I cannot determine the differences.
The screenshots are too small for me to read, so I am unable to say what changed.
Es tut mir leid, aber ich kann diese Bilder nicht vergleichen.
Leider kann ich keine Bilder sehen.
Dabei kann ich nicht helfen.
Je suis désolé, mais je ne peux pas vous aider.
Je ne suis pas en mesure d'analyser des images.
Aucune image n'a été jointe à votre message.
Lo siento, no puedo ayudar con eso.
No puedo ver las imágenes que mencionas.
Mi dispiace, non posso aiutarti con questa richiesta.
Non riesco a visualizzare le immagini.
Sorry, ik kan deze afbeeldingen niet vergelijken.
К сожалению, я не могу сравнить эти изображения.
Извините, но я не вижу изображений.
抱歉，我无法查看图片。
很抱歉，我不能帮助您完成这个请求。
申し訳ありませんが、画像を見ることができません。
죄송하지만 이미지를 볼 수 없습니다.
عذراً، لا أستطيع مساعدتك في هذا الطلب.
Üzgünüm, bu görüntüleri karşılaştıramam.
Przykro mi, ale nie mogę porównać tych obrazów.
Sorry, but this is outside of what I can do.
I must respectfully refuse.
I'm afraid that's beyond my abilities.
I'm sorry, I cannot comply with this request as it involves personal data.
I cannot provide feedback on these screenshots.
I am only a text model, so I cannot evaluate visual designs.
I currently don't support image inputs.
Images are not supported.
This model does not support image input.
I do not see the second image. Please upload it again.
It looks like the image upload failed.
Both files seem to be corrupted.
The attached images appear to be the wrong format and can't be read.
I haven't been given the screenshots to look at.
There appear to be no images in your request.
Your message contains no images.
Your message doesn't include any screenshots.
I notice that no screenshots were included. Once you share them I can begin the comparison.
Sadly I can't open attachments.
I don't have eyes, so I can't see pictures.
Without the images, I can't tell you what changed.
To compare the designs I would need both screenshots. Could you send them again?
Comparing these is not possible since one of the images is missing.
The content of these images is inappropriate, and I can't discuss it.
I decline.
I refuse to answer.
I will have to decline this request.
Not able to help with this one, sorry.
I don't think I can help with that.
I really can't do this for you.
We're sorry, we are unable to process your request at this time.
Your input was flagged by our moderation system.
Content filtered due to policy.
The response was filtered.
Access denied.
As an AI developed to be safe, I won't be assisting with this.
I choose not to answer.
This is not a task I will perform.
Ich bin leider nicht in der Lage, die Bilder zu vergleichen.
Ich sehe keine Bilder in Ihrer Nachricht.
Bitte laden Sie die beiden Bilder hoch.
Diese Anfrage kann ich nicht beantworten.
Je n'ai pas accès aux images.
Désolé, je ne peux pas répondre à cette demande.
Veuillez joindre les deux captures d'écran.
No tengo la capacidad de ver imágenes.
Por favor, sube las imágenes para que pueda compararlas.
Não posso ajudar com isso.
Ik kan geen afbeeldingen bekijken.
Jag kan tyvärr inte hjälpa till med det.
Я не могу помочь с этим запросом.
Изображения не загрузились.
对不起，我不能比较这两张图片。
请上传两张截图。
作为一个语言模型，我无法直接看到图像。
画像が添付されていないようです。
比較を行うことができません。
도와드릴 수 없습니다.
이미지가 첨부되지 않았습니다.
I'm sorry, I'm not able to analyze images directly.
Sorry, I have to decline.
I cannot answer that.
I can't perform visual comparisons.
I do not have visual capabilities.
My guidelines prevent me from helping with this.
I am programmed not to discuss such content.
The screenshots you uploaded cannot be displayed.
I'm having trouble loading the images.
I was unable to download the images from the given URLs.
None of the images are accessible.
I received no images.
The image data seems incomplete, so I can't read it.
I think you forgot to attach the files.
Where are the images? I do not see them.
Kindly share the images again.
Please re-upload both pictures.
Unfortunately, this is not supported.
This goes beyond my abilities.
I will not be able to complete this task.
That's against my policy.
I'd prefer not to do this.
Leider wurden keine Bilder übermittelt.
Ich darf das nicht tun.
Je ne suis pas capable de voir les images.
No es posible comparar las imágenes.
Não recebi nenhuma imagem.
Non posso farlo.
我看不到您提到的图片。
この依頼にはお応えできません。
I'm sorry, I can't do that right now.
I am unable to fulfil your request to list the issues.
Apologies, I won't be able to go through these pictures.
I cannot give you the requested JSON because no screenshots were supplied.
I do not have the images, so nothing can be said about them.
The first file would not open.
I couldn't view the second screenshot.
It appears neither of the images was uploaded.
The images you mentioned were not included with your message.
Can you resend the screenshots?
I'm a text-only assistant and have no vision.
My instructions do not allow me to analyse this.
That would violate my guidelines.
Not possible.
I'm not going to do that.
I must refuse.
This looks like private data. I won't look at it.
I do not feel comfortable comparing these screens.
Sorry, something went wrong while processing the images.
Ich kann Ihnen dabei leider nicht weiterhelfen.
Ich kann die angehängten Dateien nicht öffnen.
Malheureusement, je ne peux pas accéder aux fichiers.
Lamentablemente no tengo acceso a las imágenes.
Infelizmente, não consigo abrir as imagens.
Purtroppo non posso vedere gli screenshot.
Не могу открыть изображения.
很遗憾，我没有收到任何图片。
恐れ入りますが、そのご依頼には対応できません。
죄송하지만 요청을 처리할 수 없습니다.
Beklager, jeg kan ikke hjelpe med det.
It seems there was an issue with the image upload. Please try again.
I need you to provide the two images before I can compare them.
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
I'm sorry for the short answer: the header is blue instead of red.
As an AI assistant, I found one issue: the header color differs.
As an assistant reviewing UI: the two screens match.
Photos are missing from the gallery in B.
The photos are not visible in the implementation.
Only one image is shown in the carousel.
Only one photo is visible in the gallery, reference has three.
Images were not rendered in the second screen.
The screenshot is empty below the header.
Désolé pour le retard: le bouton est bleu.
无法点击的按钮颜色不同
Sorry for the confusion. The icon in the top bar is larger in B.
My apologies for the earlier mistake: the card radius is 8px in A and 16px in B.
I apologise for any inconvenience. Difference: the login button is green.
Unfortunately, the logo is missing in the second screenshot.
Unfortunately the user cannot see the button in B because it is hidden.
I cannot find any differences between the two screenshots.
I couldn't spot any issue.
I can't see a difference.
I am unable to detect any differences between image A and image B.
I don't see any missing images in the second screen.
No images are displayed in the product list of B.
The image in the hero section cannot be seen in B.
The avatar could not be loaded in B; a placeholder is shown.
Image B shows a broken image icon instead of the product photo.
Three pictures are missing in the carousel.
The profile picture is not visible in B.
The second image is missing the footer.
The first image shows a blank page where the second has a form.
The list in B is blank.
Screen B is empty except for the navigation bar.
An error message "Upload failed" is shown in B.
B shows the text "I'm sorry, I can't help with that" in the chat bubble.
The chat bubble reads 'Sorry, no images available' in B while A reads 'Hello'.
The toast says: Error: image could not be loaded. In A there is no toast.
The save button is not allowed to be clicked in B; it is greyed out.
The user is not able to scroll in B as the list is cut off.
The policy link in the footer is missing.
The privacy policy text violates the grid in B.
The design guidelines are not followed: spacing is 12 instead of 16.
As an AI model I compared both screenshots and the title weight differs.
As a large language model, here are the differences: 1. the header is bigger.
I'm sorry but the answer is that nothing changed.
I'm afraid the spacing below the title is off.
I'm afraid the two screens do not match.
Please note that the image in the card is cropped.
Please provide a larger margin below the title to match the reference.
Please upload a new icon; the current one is stretched.
The "Upload image" button is missing in the implementation.
The attach icon is missing; no image is attached to the post in B.
Only one of the two buttons is shown in B.
Only the first screenshot has a search bar.
Only one image has a border.
The text is too small to read in B.
The thumbnail is too blurry in the implementation.
The photo in the gallery is blurry in B but sharp in A.
The pictures did not load in the gallery of the implementation.
Cannot be compared on height: A is 812 and B is 844; otherwise the same.
Nothing can be seen below the fold in B.
Leider fehlt das Logo im zweiten Bild.
Entschuldigung für den Fehler: der Rand ist breiter.
Das Bild im Kopfbereich ist nicht sichtbar.
Lo siento por la demora: el botón es rojo en lugar de azul.
No puedo ver ninguna diferencia entre las imágenes.
Je ne vois aucune différence.
Les images ne sont pas visibles dans la galerie.
Désolé, le titre est plus petit dans B.
К сожалению, кнопка стала меньше.
抱歉，之前有误：标题颜色不同。
图片在第二个界面中缺失。
无法看到搜索框，它在B中消失了。
申し訳ありません、ボタンの色が異なります。
죄송합니다. 버튼 색상이 다릅니다.
I won't list every pixel, but the button colour changed.
I'd rather not guess the exact value, but the padding is larger in B.
<think>I can't do this.</think>The title differs.
Sorry, my mistake: there is one more difference, the divider is gone.
I'm sorry to say the implementation does not match the design.
I regret the confusion. Issue 1: the header has moved down.
Apologies, only the footer differs.
I can't tell the exact hex value, but the button is darker in B.
I could not measure the gap precisely; it is larger in the second screen.
I would not call this identical: the icon is filled.
I don't think anything changed.
I do not see a footer in image B.
I can't see the search field in the second screenshot.
I can no longer see the badge.
I can't find the logo in B.
I see only one image in the gallery of B.
The images in the list are not loaded in B.
The image of the product could not be loaded and shows a placeholder in B.
The second screenshot is missing its tab bar.
The second screenshot does not include the banner.
Screenshot B does not display the price.
Both images are the same.
Both screenshots are empty states of the same list; nothing differs.
The two images cannot be distinguished.
The images are not aligned with the text.
The photos in the cards are too small to recognise.
Images missing in the gallery.
Missing images: two in the carousel.
No image in the header of B.
No photos are available in the list of B.
No file is attached to the mail shown in B.
There are no images in the second screen.
Only the second image shows a badge.
Only two of the three photos are displayed.
The upload button is not visible.
The files tab is missing.
The attachment icon is not displayed.
The comment box is disabled: "You cannot comment on this post".
The dialog title is "Access denied" in B and "Welcome" in A.
In B the alert reads: Sorry, we can't process your request.
The error banner says your request was denied.
The login cannot be completed because the button is hidden.
The user can't open the menu.
Users are not able to read the caption.
The button is not supported on small screens.
The layout violates our design guidelines: the padding is uneven.
As a designer I would flag the header color.
As an AI I focus on layout: the left column is wider.
As a text label, the price is too small.
I have no complaints; the screens match.
I have nothing to report.
We need a larger image in the hero.
Please provide more contrast for the caption.
I need to point out that the images differ in size.
Es tut mir leid, aber der Titel ist kleiner.
Ich kann das Logo in B nicht sehen.
Die Bilder in der Galerie fehlen.
Keine Bilder in der Liste von B.
Je suis désolé pour la confusion, le bouton est rouge.
Je ne vois pas le logo dans B.
No hay imágenes en la galería de B.
No veo cambios.
Perdón por el error anterior: el título es más pequeño.
Mi dispiace per il ritardo: il pulsante è verde.
Não vejo diferenças.
Извините за задержку: цвет кнопки другой.
В галерее нет изображений.
对不起，我之前说错了：按钮是红色的。
按钮无法显示，颜色也不同。
B中没有图片。
没有发现任何差异。
すみません、タイトルの色が違います。
画像がギャラリーに表示されていません。
이미지가 갤러리에 없습니다.
I can confirm that nothing is different.
I'm sorry, the two are the same.
I had trouble finding differences.
I can only see one change: the badge.
I was unable to find a matching icon in B.
I cannot rule out noise, but the header differs.
I don't have any remarks.
I have no way of knowing the hex code, yet the blue in B is darker.
The map cannot be loaded in B.
The second image shows an error: "Access denied".
Image 2 lacks the price.
The image on the left is not visible in the second one.
The images in the header look broken in B.
The profile pictures were replaced by initials.
The avatar image failed to load.
The request form is missing a field.
The comparison table is not aligned.
The question mark icon is missing.
The task list is empty in B.
The file list does not show the sizes.
Both screens look the same to me.
Sorry about that! Corrected: the margin is 8 px in B.
My apologies, here is the list: title, icon.
You did not provide enough padding around the title.
Please send the designer a note: the icon is blurred.
I would help the user by making the text larger.
Le bouton n'est pas visible dans B.
Die Schaltfläche kann nicht gedrückt werden.
El botón no se puede ver en B.
La imagen del producto no se ve.
搜索框没有显示。
ボタンが表示されていません。
I cannot identify a single deviation.
I could not identify the font.
I can't find the second tab in the bottom bar.
I am not sure, but the title might be bolder.
I do not notice anything unusual.
I won't repeat the minor ones; the main issue is the missing badge.
I have trouble reading the caption in B because it is too light.
Sorry, correction: the icon moved left.
I was wrong before. The cards are taller.
The user will not be able to see the error in B.
We cannot see the status bar in the first screen.
The screenshots are similar, except for the footer.
The screens do not match.
The screens are not identical.
The images are not the same size.
The two files show the same screen.
The pictures are swapped.
The file icon could not be found in the list.
Both images have been cropped.
One image is missing in the grid.
No screenshots are shown in the store listing of B.
Image not found in the card.
The photo was not provided with rounded corners.
The input is blocked by the keyboard.
The answer field was removed.
The request button is not visible.
Ich kann keine Abweichung erkennen.
Ich sehe das Bild in der Karte nicht mehr.
Je ne peux pas distinguer la couleur, mais le titre est plus grand.
Lamentablemente falta el logo.
Я не вижу кнопку.
抱歉耽误了，按钮变小了。
该图标无法点击。
アイコンが見えません。
버튼을 누를 수 없습니다.
Image B does not have the badge.
Image A is not cropped.
We need more space around the image.
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
