// The AI SDK with its provider for endpoints like OpenAI's: chat, stream, schema, forced tool, an error.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, jsonSchema, streamText, tool } from "ai";

const [url, tools, schema] = [process.argv[2], JSON.parse(process.argv[3]), JSON.parse(process.argv[4])];
const model = createOpenAICompatible({
  name: "paceline", baseURL: `${url}/v1`, apiKey: "none", supportsStructuredOutputs: true,
})("any");
const asked = { model, prompt: "What is the capital of France?", temperature: 0, maxOutputTokens: 60, maxRetries: 0 };

const found = {};
found.chat = (await generateText(asked)).text;
found.stream = "";
for await (const part of streamText(asked).textStream) found.stream += part;
found.schema = JSON.stringify((await generateObject({ ...asked, schema: jsonSchema(schema) })).object);
const described = Object.fromEntries(
  tools.map(({ function: f }) => [f.name, tool({ description: f.description, inputSchema: jsonSchema(f.parameters) })]),
);
const called = await generateText({ ...asked, tools: described, toolChoice: "required", maxOutputTokens: 300 });
found.tool = [called.toolCalls[0].toolName, JSON.stringify(called.toolCalls[0].input), called.rawFinishReason ?? called.finishReason];
const result = {
  role: "tool",
  content: called.toolCalls.map(({ toolCallId, toolName }) => (
    { type: "tool-result", toolCallId, toolName, output: { type: "text", value: "It is sunny." } }
  )),
};
const messages = [{ role: "user", content: asked.prompt }, ...called.response.messages, result];
const { prompt, ...rest } = asked;
found.second = (await generateText({ ...rest, messages, tools: described, toolChoice: "none" })).text;
const stop = new AbortController();
for await (const _ of streamText({ ...asked, maxOutputTokens: 1000, abortSignal: stop.signal }).textStream) { stop.abort(); break; }
try {
  await generateText({ ...asked, prompt: "word ".repeat(30000) });
} catch (error) {
  found.error = `${error.message} ${error.responseBody ?? ""}`;
}
console.log(JSON.stringify(found));
