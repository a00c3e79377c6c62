"""How each tiny architecture is put together: two layers of 32 dimensions, a byte-level tokenizer, a processor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CONTEXT = 32_768
"""Context window of the tiny models, in tokens (our choice)."""

_END, _PAD = "<|im_end|>", "<|endoftext|>"
_CHAT = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_QWEN = (*_CHAT, "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
_SIDE = 56  # pixels a side of what the vision towers of llava and gemma3 and one tile of idefics3 take
_PATCH = 14


def _tokenizer(specials: tuple[str, ...], eos: str = _END, **options: Any) -> Any:
    """A byte-level tokenizer without merges: every text encodes and decodes exactly, and no corpus is needed."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={symbol: i for i, symbol in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in specials])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        padding_side="left",
        model_max_length=CONTEXT,
        eos_token=eos,
        pad_token=_PAD,
        **options,
    )


def _template(image: str) -> str:
    """A chat template that writes the parts of a turn in the order they come."""
    return (
        "{% for message in messages %}<|im_start|>{{ message.role }}\n"
        "{% for part in message.content %}"
        f"{{% if part.type == 'image' %}}{image}{{% else %}}{{{{ part.text }}}}{{% endif %}}"
        "{% endfor %}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )


def _text(tokenizer: Any, kind: str | None = None, eos: str = _END, **extra: Any) -> dict[str, Any]:
    """The language half of a configuration: two layers of 32 dimensions."""
    token = tokenizer.convert_tokens_to_ids
    config: dict[str, Any] = {"model_type": kind} if kind else {}
    return config | {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": CONTEXT,
        "tie_word_embeddings": False,
        "bos_token_id": token(_PAD),
        "eos_token_id": token(eos),
        "pad_token_id": token(_PAD),
        **extra,
    }


_TOWER = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
_SIGLIP = _TOWER | {
    "model_type": "siglip_vision_model",
    "image_size": _SIDE,
    "patch_size": _PATCH,
    "vision_use_head": False,
}


def _idefics3() -> tuple[Any, Any]:
    from transformers import (
        Idefics3Config,
        Idefics3ForConditionalGeneration,
        Idefics3ImageProcessor,
        Idefics3Processor,
    )

    end = "<end_of_utterance>"
    tiles = tuple(f"<row_{row}_col_{col}>" for row in range(1, 7) for col in range(1, 7))
    marks = ("<image>", "<fake_token_around_image>", "<global-img>", end, *tiles)
    tokenizer = _tokenizer((*_CHAT, *marks), eos=end)
    config = Idefics3Config(
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        pad_token_id=tokenizer.pad_token_id,
        scale_factor=2,
        tie_word_embeddings=False,
        vision_config=_TOWER | {"image_size": _SIDE, "patch_size": _PATCH},
        text_config=_text(tokenizer, "llama", end),
    )
    images = Idefics3ImageProcessor(
        size={"longest_edge": 2 * _SIDE}, max_image_size={"longest_edge": _SIDE}, do_image_splitting=True
    )
    processor = Idefics3Processor(images, tokenizer, image_seq_len=4, chat_template=_template("<image>"))
    return Idefics3ForConditionalGeneration(config), processor


def _llava() -> tuple[Any, Any]:
    from transformers import LlavaConfig, LlavaForConditionalGeneration, LlavaImageProcessor, LlavaProcessor

    tokenizer = _tokenizer((*_CHAT, "<image>"))
    config = LlavaConfig(
        text_config=_text(tokenizer, "llama"),
        vision_config=_SIGLIP,
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_select_strategy="full",
        vision_feature_layer=-1,
        image_seq_length=(_SIDE // _PATCH) ** 2,
        tie_word_embeddings=False,
    )
    square = {"height": _SIDE, "width": _SIDE}
    processor = LlavaProcessor(
        LlavaImageProcessor(size=square, crop_size=square),
        tokenizer,
        patch_size=_PATCH,
        vision_feature_select_strategy="full",
        image_token="<image>",
        chat_template=_template("<image>"),
    )
    return LlavaForConditionalGeneration(config), processor


def _gemma3() -> tuple[Any, Any]:
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration, Gemma3ImageProcessor, Gemma3Processor

    names = {"boi_token": "<start_of_image>", "eoi_token": "<end_of_image>", "image_token": "<image_soft_token>"}
    tokenizer = _tokenizer((*_CHAT, *names.values()), extra_special_tokens=names)
    token = tokenizer.convert_tokens_to_ids
    config = Gemma3Config(
        text_config=_text(tokenizer, "gemma3_text", sliding_window=512),
        vision_config=_SIGLIP,
        mm_tokens_per_image=4,
        boi_token_index=token(names["boi_token"]),
        eoi_token_index=token(names["eoi_token"]),
        image_token_index=token(names["image_token"]),
        tie_word_embeddings=False,
    )
    processor = Gemma3Processor(
        Gemma3ImageProcessor(size={"height": _SIDE, "width": _SIDE}),
        tokenizer,
        image_seq_length=4,
        chat_template=_template(names["boi_token"]),
    )
    return Gemma3ForConditionalGeneration(config), processor


def _qwen(tokenizer: Any, patch: int, mrope: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """What the two Qwen generations share: the token ids, the language half and the image processor."""
    from transformers import Qwen2VLImageProcessor

    token = tokenizer.convert_tokens_to_ids
    names = {"image": "<|image_pad|>", "video": "<|video_pad|>"}
    ids = {f"{kind}_token_id": token(name) for kind, name in names.items()}
    ids |= {f"vision_{side}_token_id": token(f"<|vision_{side}|>") for side in ("start", "end")}
    text = _text(tokenizer, rope_parameters={"rope_type": "default", "rope_theta": 10_000.0, **mrope})
    block = (2 * patch) ** 2  # pixels that become one token
    images = Qwen2VLImageProcessor(patch_size=patch, size={"shortest_edge": 4 * block, "longest_edge": 64 * block})
    return ids | {"tie_word_embeddings": False}, text, images


_QWEN_TOWER = {
    "depth": 2,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_heads": 2,
    "out_hidden_size": 32,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
}
_QWEN_IMAGE = "<|vision_start|><|image_pad|><|vision_end|>"


def _qwen2_5_vl() -> tuple[Any, Any]:
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLVideoProcessor,
    )

    tokenizer = _tokenizer(_QWEN)
    ids, text, images = _qwen(tokenizer, _PATCH, {"mrope_section": [1, 1, 2]})
    tower = _QWEN_TOWER | {"patch_size": _PATCH, "window_size": 56, "fullatt_block_indexes": [1]}
    config = Qwen2_5_VLConfig(text_config=text, vision_config=tower, **ids)
    processor = Qwen2_5_VLProcessor(
        images, tokenizer, video_processor=Qwen2VLVideoProcessor(), chat_template=_template(_QWEN_IMAGE)
    )
    return Qwen2_5_VLForConditionalGeneration(config), processor


def _qwen3_vl() -> tuple[Any, Any]:
    from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration, Qwen3VLProcessor, Qwen3VLVideoProcessor

    tokenizer = _tokenizer(_QWEN)
    ids, text, images = _qwen(tokenizer, 16, {"mrope_section": [2, 1, 1], "mrope_interleaved": True})
    tower = _QWEN_TOWER | {"patch_size": 16, "num_position_embeddings": 256, "deepstack_visual_indexes": [0, 1]}
    config = Qwen3VLConfig(text_config=text, vision_config=tower, **ids)
    processor = Qwen3VLProcessor(
        images, tokenizer, video_processor=Qwen3VLVideoProcessor(), chat_template=_template(_QWEN_IMAGE)
    )
    return Qwen3VLForConditionalGeneration(config), processor


ARCHITECTURES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "idefics3": _idefics3,
    "llava": _llava,
    "gemma3": _gemma3,
    "qwen2_5_vl": _qwen2_5_vl,
    "qwen3_vl": _qwen3_vl,
}
"""How to make each architecture; the first three need no torchvision."""
