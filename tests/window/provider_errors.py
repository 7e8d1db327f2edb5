"""Errors as providers send them: each row of the table of docs/design/0015-recovery.md, with what it
is, and the traps that others fell into."""

from __future__ import annotations

import json

OPENAI_OVER = {
    "error": {
        "message": "This model's maximum context length is 128000 tokens. However, your messages "
        "resulted in 130521 tokens. Please reduce the length of the messages.",
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    }
}


def anthropic(message, kind="invalid_request_error"):
    return {"type": "error", "error": {"type": kind, "message": message}}


OVERFLOWS = {
    "anthropic": (
        anthropic("prompt is too long: 213462 tokens > 200000 maximum"), 400, 213462, 200000,
    ),
    "anthropic-both": (
        anthropic("input length and `max_tokens` exceed context limit: 201000 + 8192 > 200000"),
        *(400, 209192, 200000),
    ),
    "openai-chat": (OPENAI_OVER, 400, 130521, 128000),
    "openai-configured": (
        ("Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in "
        "291311 tokens."),
        *(400, 291311, 272000),
    ),
    "openai-responses-stream": (
        {"type": "response.failed", "response": {"status": "failed", "error": {
            "code": "context_length_exceeded",
            "message": "Your input exceeds the context window of this model. Please adjust your "
            "input and try again."}}},
        *(None, None, None),
    ),
    "openai-responses-event": (
        {"type": "error", "code": "context_length_exceeded", "message": "Your input exceeds the "
            "context window of this model.", "param": "input"},
        *(None, None, None),
    ),
    "azure-stream": ({"error": {"code": "context_length_exceeded", "message": ""}}, None, None, None),
    "gemini": (
        {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token count "
            "(1196265) exceeds the maximum number of tokens allowed (1048575)."}},
        *(None, 1196265, 1048575),
    ),
    "bedrock": (
        {"Error": {"Code": "ValidationException", "Message": "Input is too long for requested model."},
         "ResponseMetadata": {"HTTPStatusCode": 400}},
        *(None, None, None),
    ),
    "bedrock-claude": ("ValidationException: prompt is too long: 208310 tokens > 200000 maximum",
        400, 208310, 200000),
    "bedrock-many": ("Too many input tokens", 400, None, None),
    "bedrock-characters": ("Malformed input request: expected maxLength: 240000, actual: 252011",
        400, None, None),
    "bedrock-exceeded": ("input tokens exceeded", 400, None, None),
    "openrouter": (
        {"error": {"code": 400, "message": "This endpoint's maximum context length is 131072 tokens. "
            "However, you requested about 141500 tokens (141000 of text input, 500 in the output). "
            'Please reduce the length of either one, or use the "middle-out" transform.'}},
        *(None, 141500, 131072),
    ),
    "openrouter-in-message": (
        {"choices": [{"finish_reason": "error", "error": {"code": 502, "message": json.dumps(
            {"error": {"code": "context_length_exceeded", "message": "too long"}})}}],
         "error": {"message": json.dumps(OPENAI_OVER), "code": 400}},
        *(None, 130521, 128000),
    ),
    "mistral": (("Prompt contains 40960 tokens and 0 draft tokens, too large for model with 32768 "
        "maximum context length"), 400, 40960, 32768),
    "mistral-no-body": ("400 status code (no body)", None, None, None),
    "deepseek": (
        ("This model's maximum context length is 65536 tokens. However, you requested 70012 tokens "
        "(66012 in the messages, 4000 in the completion)."),
        *(400, 70012, 65536),
    ),
    "xai": ("This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        400, 537812, 131072),
    "groq": ({"error": {"message": "Please reduce the length of the messages or completion.",
        "type": "invalid_request_error", "code": "context_length_exceeded"}}, 400, None, None),
    "cerebras": (("Please reduce the length of the messages or completion. Current length is 9012 "
        "while limit is 8192"), 400, 9012, 8192),
    "cerebras-no-body": ("413 status code (no body)", None, None, None),
    "llama.cpp": (
        {"error": {"code": 400, "message": "the request exceeds the available context size, try "
            "increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 9012,
            "n_ctx": 4096}},
        *(None, 9012, 4096),
    ),
    "lm-studio": ("The number of tokens to keep from the initial prompt is greater than the context "
        "length (n_keep: 5021>= n_ctx: 4096)".replace(">=", " >="), 400, 5021, 4096),
    "vllm-negative": ("max_tokens must be at least 1, got -186.", 400, None, None),
    "vllm": (
        {"object": "error", "message": "This model's maximum context length is 4096 tokens. However, "
            "you requested 5120 tokens (4608 in the messages, 512 in the completion).",
            "type": "BadRequestError", "code": 400},
        *(None, 5120, 4096),
    ),
    "copilot": ("prompt token count of 142000 exceeds the limit of 128000", 400, 142000, 128000),
    "kimi": ("Invalid request: Your request exceeded model token limit: 262144 (requested: 291018)",
        400, 291018, 262144),
    "minimax": ("invalid params, context window exceeds limit (2013)", 400, None, None),
    "qwen-gateway": (
        {"error": {"value": {"error_message": json.dumps({"status": 400, "message":
            "requested input length 140000 exceeds maximum input length 129024"})}}},
        *(None, 140000, 129024),
    ),
    "qwen": ("Range of input length should be [1, 129024]", 400, None, 129024),
    "cohere": (("too many tokens: total number of tokens in the prompt cannot exceed 4081 - received "
        "5012."), 400, 5012, 4081),
    "tgi": ("Input validation error: `inputs` must have less than 4096 tokens. Given: 5012",
        422, 5012, 4096),
    "replicate": ("input is too long", 422, None, None),
    "ai21": ("Prompt has too many tokens.", 422, None, None),
    "nlp-cloud": ("Input text length should not exceed 1024 tokens.", 400, None, 1024),
    "litellm": ("litellm.ContextWindowExceededError: context_length_exceeded", None, None, None),
    "minimax-wrapped": (
        {"message": "Connection error.", "cause": {"message":
            "invalid params, context window exceeds limit (2013)", "status": 400}},
        *(None, None, None),
    ),
    "bedrock-mantle": (
        {"type": "error", "error": {"type": "validation_error", "message":
            "prompt is too long: 208310 tokens > 200000 maximum"}},
        *(None, 208310, 200000),
    ),
    "bedrock-mantle-stream": (
        {"type": "response.failed", "response": {"error": {"code": "context_length_exceeded",
            "message": ""}}},
        *(None, None, None),
    ),
    "commas": ("prompt is too long: 213,462 tokens > 200,000 maximum", 400, 213462, 200000),
}  # fmt: skip


OTHERS = {
    "anthropic-answer-cut": ({"stop_reason": "model_context_window_exceeded"}, 200, "overflow_output"),
    "bedrock-answer-cut": ({"stopReason": "model_context_window_exceeded"}, None, "overflow_output"),
    "anthropic-room": (
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 400,
        "overflow_output"),
    "openai-room": (
        ("This model's maximum context length is 4097 tokens. However, you requested 5000 tokens "
        "(1000 in the messages, 4000 in the completion)."), 400, "overflow_output"),
    "vllm-room": (
        ("'max_tokens' or 'max_completion_tokens' is too large: 2045. This model's maximum context "
        "length is 2048 tokens and your request has 8 input tokens (2045 > 2048 - 8)."), 400,
        "overflow_output"),
    "vllm-room-plus": ("your request has 8 input tokens plus 2045 'max_tokens'", 400,
        "overflow_output"),
    "tgi-room": (("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens "
        "and 500 `max_new_tokens`"), 422, "overflow_output"),
    "openai-length": ("Could not parse response content as the length limit was reached", None,
        "overflow_output"),
    "anthropic-bytes": (anthropic("Request exceeds the maximum size", "request_too_large"), 413,
        "payload_bytes"),
    "gemini-bytes": ("Request payload size exceeds the limit: 20971520 bytes.", 400, "payload_bytes"),
    "picture-bytes": (("messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 "
        "bytes > 5242880 bytes"), 400, "payload_bytes"),
    "proxy": ("<html><h1>413 Request Entity Too Large</h1></html>", 413, "payload_bytes"),
    "proxy-plain": ("payload too large", 413, "payload_bytes"),
    "proxy-silent": ("", 413, "payload_bytes"),
    "no-result": (anthropic("messages.3: `tool_use` ids were found without `tool_result` blocks "
        "immediately after: toolu_1"), 400, "malformed_history"),
    "no-call": (anthropic("messages.0.content.0: unexpected `tool_use_id` found in `tool_result` "
        "blocks: toolu_1"), 400, "malformed_history"),
    "two-results": ("each tool_use must have a single result", 400, "malformed_history"),
    "chat-no-result": (("An assistant message with 'tool_calls' must be followed by tool messages "
        "responding to each 'tool_call_id'."), 400, "malformed_history"),
    "chat-no-call": (("Invalid parameter: messages with role 'tool' must be a response to a preceeding "
        "message with 'tool_calls'."), 400, "malformed_history"),
    "responses-no-result": ("No tool output found for function call call_1.", 400,
        "malformed_history"),
    "responses-reasoning": (("Item 'rs_1' of type 'reasoning' was provided without its required "
        "following item."), 400, "malformed_history"),
    "arguments": ("failed to parse tool call arguments as json", 400, "malformed_history"),
    "signature": ("Function call is missing a thought_signature in functionCall parts.", 400,
        "malformed_history"),
    "tpm": ({"error": {"message": "Request too large for gpt-5 in organization org-1 on tokens per min "
        "(TPM): Limit 30000, Requested 40213.", "type": "tokens", "code": "rate_limit_exceeded"}}, 429,
        "rate"),
    "groq-tpm": ({"error": {"message": "Request too large for model on tokens per minute (TPM): Limit "
        "6000, Requested 9012, please reduce your message size", "code": "rate_limit_exceeded"}}, 413,
        "rate"),
    "bedrock-throttled": ("Too many tokens, please wait before trying again.", 429, "rate"),
    "bedrock-throttled-text": (("ThrottlingException: Too many tokens, please wait before trying "
        "again."), None, "rate"),
    "mistral-capacity": ("Service tier capacity exceeded for this model.", None, "rate"),
    "quota": ("You exceeded your current quota: too many tokens", 400, "rate"),
    "status-in-text": ("Error code: 429 - too many tokens", None, "rate"),
    "string-length": ({"error": {"code": "string_above_max_length", "message": "Invalid "
        "'messages[0].content': string too long. Expected a string with maximum length 1048576, but "
        "got a string with length 1203312 instead."}}, 400, "other"),
    "room-cap": (anthropic("max_tokens: 100000 > 64000, which is the maximum allowed number of output "
        "tokens for claude-sonnet-4-5"), 400, "other"),
    "room-cap-openai": (("max_tokens is too large: 100000. This model supports at most 16384 completion "
        "tokens, whereas you provided 100000."), 400, "other"),
    "cache-too-small": (("Cached content is too small. The minimum token count to start caching is "
        "1024."), 400, "other"),
    "any-invalid-request": (anthropic("max_tokens: Field required"), 400, "other"),
    "token-of-another-kind": ({"error": {"code": "400", "message": "invalid auth token"}}, None,
        "other"),
    "content-filter": ({"error": {"code": "content_filter", "message": "The response was filtered "
        "due to the prompt triggering content management policy."}}, 400, "other"),
    "not-found": ("model not found: maximum context length is 8192 tokens", 404, "other"),
    "server": ("prompt is too long", 500, "other"),
    "nothing": (None, None, "other"),
    "empty": ("", None, "other"),
}  # fmt: skip
