package settings

import (
	"strings"
	"testing"
)

// What clients refuse a whole file for, as `live` measured it (TestRefused).
func TestOffences(t *testing.T) {
	const all, old, young = "each client", "each client up to " + lenient, "each client since " + strict
	for _, c := range []struct {
		situation, file string
		want            string // of the only one, "" for none
		who             string
	}{
		{"nothing", ``, "", ""},
		{"as it should be", `{"model": "x", "env": {"A": 1}, "hooks": {"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "x", "timeout": 5, "async": false, "args": []}]}]}}`, "", ""},
		{"a type that is newer than this", `{"hooks": {"Stop": [{"hooks": [{"type": "later"}]}]}}`, "", ""},
		{"an event that nobody knows", `{"hooks": {"Later": []}, "later": 5}`, "", ""},
		{"an event that is null", `{"hooks": {"Stop": null}}`, "", ""},
		{"a value of env that is none", `{"env": {"A": {}}}`, "", ""},
		{"no JSON, of which others tell", `{"env": [}`, "", ""},
		{"env is null", "{\n  \"env\": null}", "line 2, column 10: env is null, not an object; make it {} or take the key out", all},
		{"env is a list", `{"env": []}`, "env is an array, not an object", all},
		{"of a key that stands twice the last counts", `{"env": [], "env": {}}`, "", ""},
		{"the model is a number", `{"model": 5}`, "model is a number, not a string", all},
		{"a switch is a string", `{"disableAllHooks": "false"}`, "disableAllHooks is a string, not a boolean", all},
		{"days are a string", `{"cleanupPeriodDays": "x"}`, "cleanupPeriodDays is a string, not a number", all},
		{"rules are a string", `{"permissions": {"allow": "x"}}`, "permissions.allow is a string, not an array", all},
		{"an event is an object", `{"hooks": {"Stop": {"hooks": []}}}`, "", ""},
		{"one that forbids is an object", `{"hooks": {"PreToolUse": {"hooks": []}}}`, "hooks.PreToolUse is an object, not an array", young},
		{"a group of one that forbids is null", `{"hooks": {"PermissionRequest": [null]}}`, "hooks.PermissionRequest[0] is null, not an object", all},
		{"an entry of one that forbids has no command", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command"}]}]}}`, "hooks.PreToolUse[0].hooks[0].command is missing", all},
		{"a group is null", `{"hooks": {"Stop": [null]}}`, "hooks.Stop[0] is null, not an object", old},
		{"a group without hooks", `{"hooks": {"Stop": [{}]}}`, "hooks.Stop[0].hooks is missing", old},
		{"a group's hooks are null", `{"hooks": {"Stop": [{"hooks": null}]}}`, "hooks.Stop[0].hooks is null, not an array", old},
		{"a matcher is a number", `{"hooks": {"Stop": [{"matcher": 5, "hooks": []}]}}`, "hooks.Stop[0].matcher is a number, not a string", old},
		{"an entry is null", `{"hooks": {"Stop": [{"hooks": []}, {"hooks": [null]}]}}`, "hooks.Stop[1].hooks[0] is null, not an object", old},
		{"an entry without a type", `{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}`, "hooks.Stop[0].hooks[0].type is missing", old},
		{"an entry without a command", `{"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}`, "hooks.Stop[0].hooks[0].command is missing", old},
		{"arguments are a string", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "args": "y"}]}]}}`, "hooks[0].args is a string, not an array", old},
		{"a timeout is a string", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": "5"}]}]}}`, "hooks[0].timeout is a string, not a number", old},
		{"a timeout of nothing", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": 0}]}]}}`, "hooks[0].timeout is 0, not more than 0", old},
		{"async is a string", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "async": "x"}]}]}}`, "hooks[0].async is a string, not a boolean", old},
	} {
		got := Offences([]byte(c.file))
		if c.want == "" {
			if len(got) > 0 {
				t.Errorf("%s: %v", c.situation, got[0].Error())
			}
			continue
		}
		if len(got) != 1 || !strings.Contains(got[0].Error(), c.want) || got[0].Who() != c.who {
			t.Errorf("%s: %+v", c.situation, got)
		}
	}
}
