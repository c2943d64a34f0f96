package transcript

import (
	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
)

// AgreedToEnd tells whether the last thing that a teammate did was to agree to its
// shutdown: behind that a stop of it fires, and it is never asked again, whatever a
// hook answers (docs/client.md: messages). It is false where the file cannot be read.
func AgreedToEnd(files host.Files, path, agent string) bool {
	file, info, err := files.Open(path)
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // only read
	start := max(0, info.Size()-64<<10)
	buf := make([]byte, info.Size()-start)
	n, _ := file.ReadAt(buf, start)
	for _, line := range backwards(buf[:n], start > 0) {
		kind := gjson.GetBytes(line, "type").Str
		if kind != "user" && kind != "assistant" || !gjson.ValidBytes(line) {
			continue
		}
		r := parseRecord(string(line))
		if !r.belongs(agent) {
			continue
		}
		content := r.message.Get("content")
		if kind == "user" {
			if !onlyResults(content) {
				return false // it was told something since
			}
			continue
		}
		calls, agreed := false, false
		content.ForEach(func(_, block gjson.Result) bool {
			if str(block.Get("type")) == "tool_use" {
				calls = true
				message := block.Get("input.message")
				agreed = agreed || str(block.Get("name")) == "SendMessage" &&
					str(message.Get("type")) == "shutdown_response" && message.Get("approve").Type == gjson.True
			}
			return true
		})
		if calls {
			return agreed
		}
	}
	return false
}

// onlyResults tells whether a user line holds nothing but results of tools.
func onlyResults(content gjson.Result) bool {
	only := content.IsArray()
	content.ForEach(func(_, block gjson.Result) bool {
		only = only && str(block.Get("type")) == "tool_result"
		return only
	})
	return only
}
