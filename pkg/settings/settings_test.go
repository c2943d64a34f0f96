package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// rewritten is a record that no longer fits its file to the byte, as after a
// change by somebody else.
func rewritten(rec Record) *Record { return &Record{Original: rec.Original, After: "other"} }

// checkMerge holds for every src that Merge accepts.
func checkMerge(t *testing.T, src []byte, want []Entry) {
	t.Helper()
	out, rec, err := Merge(src, want, isOurs, nil)
	if err != nil {
		var syntax *SyntaxError
		var shape *ShapeError
		if !errors.As(err, &syntax) && !errors.As(err, &shape) {
			t.Fatalf("error of another kind: %v", err)
		}
		if out != nil {
			t.Fatalf("an error and bytes: %q", out)
		}
		return
	}
	if _, body := splitBOM(out); !json.Valid(body) && len(want)+len(bytes.TrimSpace(body)) > 0 {
		t.Fatalf("the result is no JSON:\n%s", out)
	}
	found, err := Find(out, isOurs)
	if err != nil {
		t.Fatal(err)
	}
	if got := entries(found); !sameEntries(got, want) {
		t.Fatalf("entries:\n%+v\nwant:\n%+v\nin:\n%s", got, want, out)
	}

	again, rec2, err := Merge(out, want, isOurs, &rec)
	if err != nil || !bytes.Equal(again, out) || !reflect.DeepEqual(rec2, rec) {
		t.Fatalf("a second merge changed something: %v\n%q\n%q", err, out, again)
	}
	again, _, err = Merge(out, want, isOurs, nil)
	if err != nil || !bytes.Equal(again, out) {
		t.Fatalf("a second merge without the record changed something: %v\n%q\n%q", err, out, again)
	}

	clean, err := Remove(src, isOurs, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, prev := range map[string]*Record{"unchanged": &rec, "rewritten": rewritten(rec)} {
		back, err := Remove(out, isOurs, prev)
		if err != nil || !bytes.Equal(back, clean) || (back == nil) != (clean == nil) {
			t.Fatalf("remove (%s): %v\ngot  %q\nwant %q\nfrom %q", name, err, back, clean, out)
		}
	}
	back, err := Remove(out, isOurs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := Find(back, isOurs); err != nil || len(found) > 0 {
		t.Fatalf("left over: %v %v", found, err)
	}
	if a, b := foreign(t, src), foreign(t, out); !slices.Equal(a, b) {
		t.Fatalf("other hooks changed:\n%q\n%q", a, b)
	}
}

// foreign are the bytes of every array element under an event that is not ours.
func foreign(t *testing.T, src []byte) []string {
	t.Helper()
	_, body := splitBOM(src)
	if isBlank(body) {
		return nil
	}
	root := mustParse(body)
	ours := make(map[*node]bool)
	for _, s := range slots(body, root, isOurs) {
		ours[s.hook()] = true
	}
	var all []string
	hooks := root.last(keyHooks)
	if hooks == nil {
		return nil
	}
	for _, event := range hooks.items {
		for _, group := range event.val.items {
			for _, key := range group.val.items {
				for _, hook := range key.val.items {
					if !ours[hook.val] {
						all = append(all, string(body[hook.val.start:hook.val.end]))
					}
				}
			}
		}
	}
	return all
}

func entries(found []Found) []Entry {
	var all []Entry
	for _, f := range found {
		all = append(all, f.Entry)
	}
	return all
}

// sameEntries compares without regard to order or to nil and empty args.
func sameEntries(a, b []Entry) bool {
	text := func(all []Entry) []string {
		var s []string
		for _, e := range all {
			s = append(s, e.Event+" "+quoted(e.Matcher)+renderHook(e).inline(plain))
		}
		slices.Sort(s)
		return s
	}
	return slices.Equal(text(a), text(b))
}

func TestPropertyMergeThenRemoveGivesBackTheBytes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(800) {
		r := rand.New(rand.NewPCG(seed, 1))
		src := generate(r, seed%2 == 1)
		checkMerge(t, src, wanted(r.IntN(5)))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestPropertyUpgradesLeadBackToTheFirstFile(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		src := generate(r, false)
		if seed%20 == 0 {
			src = nil
		}
		now, prev := src, (*Record)(nil)
		for range 1 + r.IntN(4) {
			out, rec, err := Merge(now, wanted(r.IntN(5)), isOurs, prev)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, now)
			}
			now, prev = out, &rec
		}
		for name, prev := range map[string]*Record{"unchanged": prev, "rewritten": rewritten(*prev)} {
			back, err := Remove(now, isOurs, prev)
			if err != nil || !bytes.Equal(back, src) || (back == nil) != (src == nil) {
				t.Fatalf("seed %d, %s: %v\ngot  %q\nwant %q\nfrom %q", seed, name, err, back, src, now)
			}
		}
	}
}

func TestPropertyEditsOfTheUserStay(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		src := generate(r, false)
		bom, body := splitBOM(src)
		if isBlank(body) {
			continue
		}
		root := mustParse(body)
		if len(root.items) == 0 {
			continue
		}
		out, rec, err := Merge(src, wanted(r.IntN(5)), isOurs, nil)
		if err != nil {
			t.Fatal(err)
		}
		front := func(b []byte) []byte {
			_, body := splitBOM(b)
			at := len(bom) + mustParse(body).start + 1
			return replace(b, at, at, "\n \"new\" : [1] ,")
		}
		behind := func(b []byte) []byte {
			_, body := splitBOM(b)
			root := mustParse(body)
			at := len(bom) + root.items[len(root.items)-1].val.end
			return replace(b, at, at, " , \"newer\":{}")
		}
		edits := []func([]byte) []byte{front, behind, func(b []byte) []byte { return behind(front(b)) }}
		for i, edit := range edits {
			got, err := Remove(edit(out), isOurs, &rec)
			if want := edit(src); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("seed %d, edit %d: %v\ngot  %q\nwant %q\nfrom %q", seed, i, err, got, want, edit(out))
			}
		}
	}
}

func TestPropertyWithoutRecordOnlyEmptyContainersDiffer(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 4))
		src := generate(r, false)
		if hasEmpty(src) {
			continue
		}
		out, _, err := Merge(src, wanted(r.IntN(5)), isOurs, nil)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Remove(out, isOurs, nil)
		if err != nil || !bytes.Equal(back, src) {
			t.Fatalf("seed %d: %v\ngot  %q\nwant %q", seed, err, back, src)
		}
	}
}

func hasEmpty(src []byte) bool {
	_, body := splitBOM(src)
	if isBlank(body) {
		return true
	}
	root := mustParse(body)
	hooks := root.last(keyHooks)
	if len(root.items) == 0 || (hooks != nil && len(hooks.items) == 0) {
		return true
	}
	if hooks != nil {
		for _, it := range hooks.items {
			if len(it.val.items) == 0 {
				return true
			}
		}
	}
	return false
}

func TestMergeLayout(t *testing.T) {
	stop := []Entry{{Event: "SubagentStop", Command: hookPath, Args: []string{"gate", "--hold"}, Timeout: 30}}
	match := []Entry{{Event: "PostToolUse", Matcher: "Bash|Agent", Command: `C:\a b\stopgate/bin/hook`, Args: nil}}
	for _, tt := range []struct {
		name, src string
		missing   bool
		want      []Entry
		out       string
	}{
		{name: "missing file", missing: true, want: stop, out: `{
  "hooks": {
    "SubagentStop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/home/u/.local/share/stopgate/bin/hook",
            "args": ["gate", "--hold"],
            "timeout": 30
          }
        ]
      }
    ]
  }
}
`},
		{name: "matcher, backslashes and no arguments", src: "{}", want: match, out: `{
  "hooks": {
    "PostToolUse": [
      {
        "matcher": "Bash|Agent",
        "hooks": [
          {
            "type": "command",
            "command": "C:\\a b\\stopgate/bin/hook",
            "args": []
          }
        ]
      }
    ]
  }
}`},
		{name: "tabs and another tool's hook on the event", src: "{\n\t\"hooks\": {\n\t\t\"SubagentStop\": [\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"other\"}]}\n\t\t]\n\t},\n\t\"z\": 1\n}\n", want: stop,
			out: "{\n\t\"hooks\": {\n\t\t\"SubagentStop\": [\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"other\"}]},\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"type\": \"command\",\n\t\t\t\t\t\t\"command\": \"/home/u/.local/share/stopgate/bin/hook\",\n\t\t\t\t\t\t\"args\": [\"gate\", \"--hold\"],\n\t\t\t\t\t\t\"timeout\": 30\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t},\n\t\"z\": 1\n}\n"},
		{name: "four spaces, carriage returns, byte order mark, no last line end", src: "\ufeff{\r\n    \"a\": [],\r\n    \"hooks\": {\"Stop\": []}\r\n}", want: stop,
			out: "\ufeff{\r\n    \"a\": [],\r\n    \"hooks\": {\"Stop\": [], \"SubagentStop\": [\r\n        {\r\n            \"hooks\": [\r\n                {\r\n                    \"type\": \"command\",\r\n                    \"command\": \"/home/u/.local/share/stopgate/bin/hook\",\r\n                    \"args\": [\"gate\", \"--hold\"],\r\n                    \"timeout\": 30\r\n                }\r\n            ]\r\n        }\r\n    ]}\r\n}"},
		{name: "one line with spaces", src: `{"a": 1}`, want: stop,
			out: `{"a": 1, "hooks": {"SubagentStop": [{"hooks": [{"type": "command", "command": "/home/u/.local/share/stopgate/bin/hook", "args": ["gate", "--hold"], "timeout": 30}]}]}}`},
		{name: "one line without spaces", src: "{\"a\":1}\n", want: stop,
			out: "{\"a\":1,\"hooks\":{\"SubagentStop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"/home/u/.local/share/stopgate/bin/hook\",\"args\":[\"gate\",\"--hold\"],\"timeout\":30}]}]}}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := []byte(tt.src)
			if tt.missing {
				src = nil
			}
			out, _, err := Merge(src, tt.want, isOurs, nil)
			if err != nil {
				t.Fatal(err)
			}
			if string(out) != tt.out {
				t.Errorf("got\n%s\nwant\n%s", out, tt.out)
			}
			checkMerge(t, src, tt.want)
		})
	}
}

func TestMergeReplacesOnlyItsOwn(t *testing.T) {
	want := []Entry{{Event: "Stop", Matcher: "m", Command: hookPath, Args: []string{"new"}}}
	newHook := `{"type": "command", "command": "` + hookPath + `", "args": ["new"]}`
	for _, tt := range []struct{ name, src, out string }{
		{"older arguments, between others", `{"hooks": {"Stop": [1, {"matcher": "m", "hooks": [{"command": "a"}, {"command": "` + hookPath + `", "x": 1}, null]}, 2]}}`,
			`{"hooks": {"Stop": [1, {"matcher": "m", "hooks": [{"command": "a"}, ` + newHook + `, null]}, 2]}}`},
		{"shell form of an older version", `{"hooks": {"Stop": [{"matcher": "m", "hooks": [{"command": "` + hookPath + `"}]}]}}`,
			`{"hooks": {"Stop": [{"matcher": "m", "hooks": [` + newHook + `]}]}}`},
		{"another matcher in a group of ours", `{"hooks": {"Stop": [{"hooks": [{"command": "` + hookPath + `"}]}, 5]}}`,
			`{"hooks": {"Stop": [{"matcher": "m", "hooks": [` + newHook + `]}, 5]}}`},
		{"another matcher in a shared group", `{"hooks": {"Stop": [{"hooks": [{"command": "` + hookPath + `"}, {"command": "a"}]}]}}`,
			`{"hooks": {"Stop": [{"hooks": [{"command": "a"}]}, {"matcher": "m", "hooks": [` + newHook + `]}]}}`},
		{"doubled", `{"hooks": {"Stop": [{"matcher": "m", "hooks": [` + newHook + `]}, {"matcher": "m", "hooks": [` + newHook + `]}]}}`,
			`{"hooks": {"Stop": [{"matcher": "m", "hooks": [` + newHook + `]}]}}`},
		{"an event no longer wanted", `{"hooks": {"Gone": [{"hooks": [` + newHook + `]}], "Stop": [{"matcher": "m", "hooks": [` + newHook + `]}]}}`,
			`{"hooks": {"Stop": [{"matcher": "m", "hooks": [` + newHook + `]}]}}`},
		{"a group with a key of the user's", `{"hooks": {"Gone": [{"note": 1, "hooks": [` + newHook + `]}], "Stop": [{"matcher": "m", "hooks": [` + newHook + `]}]}}`,
			`{"hooks": {"Gone": [{"note": 1, "hooks": []}], "Stop": [{"matcher": "m", "hooks": [` + newHook + `]}]}}`},
		{"same, in another order of keys and with escapes", `{"hooks": {"Stop": [{"hooks": [{"args": ["n\u0065w"], "type": "command", "command": "` + hookPath + `"}], "matcher": "m"}]}}`,
			`{"hooks": {"Stop": [{"hooks": [{"args": ["n\u0065w"], "type": "command", "command": "` + hookPath + `"}], "matcher": "m"}]}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, _, err := Merge([]byte(tt.src), want, isOurs, nil)
			if err != nil {
				t.Fatal(err)
			}
			if string(out) != tt.out {
				t.Errorf("got\n%s\nwant\n%s", out, tt.out)
			}
			checkMerge(t, []byte(tt.src), want)
		})
	}
}

func TestReplacedEntriesKeepTheLayoutOfTheirPlace(t *testing.T) {
	out, _, err := Merge([]byte("{\n\t\"x\": 1\n}"), wanted(0)[:1], isOurs, nil)
	if err != nil {
		t.Fatal(err)
	}
	newer, _, err := Merge(out, wanted(1)[:1], isOurs, nil)
	if err != nil {
		t.Fatal(err)
	}
	direct, _, err := Merge([]byte("{\n\t\"x\": 1\n}"), wanted(1)[:1], isOurs, nil)
	if err != nil || !bytes.Equal(newer, direct) {
		t.Errorf("%v\n%s\n%s", err, newer, direct)
	}
}

func TestRemoveKeepsWhatTheUserHad(t *testing.T) {
	for _, src := range []string{
		`{"hooks":{}}`, "{\n  \"hooks\": {\n  }\n}\n", `{"hooks": {"SubagentStop": [ ]}}`, "{ }", "{}", "{\n}", "", "  \n", "\ufeff", "\ufeff\r\n",
		`{"a":1,"hooks":{ },"b":2}`, `{"hooks":{"SubagentStop":[{"matcher":"","hooks":[]}],"X":[]}}`,
	} {
		checkMerge(t, []byte(src), wanted(0))
	}
	checkMerge(t, nil, wanted(0))
	checkMerge(t, nil, nil)
}

func TestRemoveAfterTheClientRewroteTheFile(t *testing.T) {
	src := []byte("{\n\t\"hooks\": {},\n\t\"model\": \"a\"\n}")
	out, rec, err := Merge(src, wanted(1), isOurs, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, out, "", "  "); err != nil {
		t.Fatal(err)
	}
	if again, _, err := Merge(b.Bytes(), wanted(1), isOurs, &rec); err != nil || !bytes.Equal(again, b.Bytes()) {
		t.Errorf("another layout of the same entries was edited: %v\n%s", err, again)
	}
	back, err := Remove(b.Bytes(), isOurs, &rec)
	if want := "{\n  \"hooks\": {},\n  \"model\": \"a\"\n}"; err != nil || string(back) != want {
		t.Errorf("%v\n%s", err, back)
	}
}

func TestRemoveLetsGoOfAFileThatWasNotThere(t *testing.T) {
	out, rec, err := Merge(nil, wanted(0), isOurs, nil)
	if err != nil {
		t.Fatal(err)
	}
	tight := append(bytes.TrimSpace(out), "\n\n"...)
	if back, err := Remove(tight, isOurs, &rec); err != nil || back != nil {
		t.Errorf("%v %q", err, back)
	}
	if back, err := Remove([]byte("{}"), isOurs, &rec); err != nil || string(back) != "{}" {
		t.Errorf("nothing of ours in it, yet: %v %q", err, back)
	}
	// The record survives being stored.
	data, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	var stored Record
	if err := json.Unmarshal(data, &stored); err != nil || stored.Original != nil {
		t.Errorf("%v %q", err, stored.Original)
	}
	_, rec, err = Merge([]byte{}, wanted(0), isOurs, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, _ = json.Marshal(rec)
	if err := json.Unmarshal(data, &stored); err != nil || stored.Original == nil {
		t.Errorf("an empty file became a missing one: %v", err)
	}
}

func TestUnusableRecordsAreLikeNone(t *testing.T) {
	src := []byte(`{"a": 1}`)
	out, _, err := Merge(src, wanted(0), isOurs, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range []*Record{{}, {Original: []byte("{")}, {Original: []byte(`[1]`)}, {Original: []byte(`{"hooks":7}`), After: "x"}} {
		if back, err := Remove(out, isOurs, rec); err != nil || !bytes.Equal(back, src) {
			t.Errorf("%q: %v %s", rec.Original, err, back)
		}
	}
}

func TestRefusedWithLineAndColumn(t *testing.T) {
	for _, tt := range []struct {
		name, src, err string
	}{
		{"comment", "{\n  // no\n}", "line 2, column 3: invalid character '/' looking for beginning of object key string (comments are not allowed)"},
		{"trailing comma", "{\n  \"a\": 1,\n}", "line 3, column 1: invalid character '}' looking for beginning of object key string (a trailing comma is not allowed)"},
		{"trailing comma in a list", `{"a": [1, ]}`, "line 1, column 11: invalid character ']' looking for beginning of value (a trailing comma is not allowed)"},
		{"cut off", "{\r\n  \"é\": 1", "line 2, column 9: unexpected end of JSON input"},
		{"behind letters of two bytes", `{"éé": x}`, "line 1, column 8: invalid character 'x' looking for beginning of value"},
		{"two documents", "{}\n{}", "line 2, column 1: invalid character '{' after top-level value"},
		{"old line ends", "{\r\"a\" 1}", "line 2, column 5: invalid character '1' after object key"},
		{"byte order mark", "\ufeffx", "line 1, column 1: invalid character 'x' looking for beginning of value"},
		{"two byte encoding", "\xff\xfe{\x00}\x00", "line 1, column 1: the file is UTF-16; save it as UTF-8"},
		{"no number", `{"a": 01}`, "line 1, column 8: invalid character '1' after object key:value pair"},
		{"raw line break in a string", "{\"a\n", "line 1, column 4: invalid character '\\n' in string literal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Merge([]byte(tt.src), wanted(0), isOurs, nil)
			if err == nil || err.Error() != tt.err {
				t.Errorf("merge: %v", err)
			}
			if _, err := Remove([]byte(tt.src), isOurs, nil); err == nil || err.Error() != tt.err {
				t.Errorf("remove: %v", err)
			}
			if _, err := Find([]byte(tt.src), nil); err == nil || err.Error() != tt.err {
				t.Errorf("find: %v", err)
			}
			if _, err := Look([]byte(tt.src)); err == nil || err.Error() != tt.err {
				t.Errorf("look: %v", err)
			}
		})
	}
}

func TestRefusedShapes(t *testing.T) {
	for _, tt := range []struct{ src, err string }{
		{`[]`, "line 1, column 1: the document is an array, not an object; settings are an object: {}"},
		{`"hooks"`, "line 1, column 1: the document is a string, not an object; settings are an object: {}"},
		{`null`, "line 1, column 1: the document is null, not an object; settings are an object: {}"},
		{"{\n  \"ä\": 1, \"hooks\": null}", "line 2, column 20: hooks is null, not an object; make it {} or take the key out"},
		{`{"hooks": []}`, "line 1, column 11: hooks is an array, not an object; make it {} or take the key out"},
		{`{"hooks": true}`, "line 1, column 11: hooks is a boolean, not an object; make it {} or take the key out"},
		{"{\"hooks\": {},\r\n \"hook\\u0073\": {}}", "line 2, column 2: hooks stands more than once; the client takes the last one: join them"},
		{`{"hooks": {"SubagentStop": {}}}`, "line 1, column 28: hooks.SubagentStop is an object, not an array; make it [] or take the key out"},
		{`{"hooks": {"PostToolUse": -3}}`, "line 1, column 27: hooks.PostToolUse is a number, not an array; make it [] or take the key out"},
		{`{"hooks": {"SubagentStop": [], "SubagentStop": []}}`, "line 1, column 32: hooks.SubagentStop stands more than once; the client takes the last one: join them"},
	} {
		if err := Check([]byte(tt.src), "SubagentStop", "PostToolUse"); err == nil || err.Error() != tt.err {
			t.Errorf("check %s: %v", tt.src, err)
		}
		_, _, err := Merge([]byte(tt.src), wanted(0), isOurs, nil)
		var shape *ShapeError
		if !errors.As(err, &shape) || err.Error() != tt.err {
			t.Errorf("%s: %v", tt.src, err)
		}
		if back, err := Remove([]byte(tt.src), isOurs, nil); err != nil || string(back) != tt.src {
			t.Errorf("%s: remove: %v %s", tt.src, err, back)
		}
	}
}

func TestOddNeighboursSurvive(t *testing.T) {
	for _, src := range []string{
		`{"hooks": {"SubagentStop": [null, 1, "x", [], {}, {"hooks": null}, {"hooks": {}}, {"hooks": ["x", 1, [], {}]}, {"matcher": 3, "hooks": [{"type": 1, "command": 2}]}]}}`,
		`{"hooks": {"Other": 3, "SubagentStop": []}}`,
		`{"a": 1, "a": 2, "hooks": {"Other": [], "Other": []}}`,
		`{"hooks": {"Other": [{"hooks": [{"command": "` + hookPath + `"}], "hooks": [{"command": "x"}]}]}}`,
		`{"hooks": {"Stop": [{"hooks": [{"type": "prompt", "command": "` + hookPath + `"}]}]}}`,
		`{"hooks": {"Stop": [{"hooks": [{"command": "` + hookPath + `", "args": [1, null]}, {"command": "` + hookPath + `", "args": "x"}]}]}}`,
		"{\"\\ud800\": \"\xff\xfe\", \"x\": 1e999}",
	} {
		checkMerge(t, []byte(src), wanted(0))
		checkMerge(t, []byte(src), nil)
	}
}

func TestRemoveFindsEntriesUnderDoubledKeys(t *testing.T) {
	src := `{"hooks": {"Stop": [{"hooks": [{"command": "` + hookPath + `"}]}], "Stop": [{"hooks": [{"command": "x"}]}]}, "hooks": {"Stop": [{"hooks": [{"command": "` + hookPath + `"}]}]}}`
	back, err := Remove([]byte(src), isOurs, nil)
	if want := `{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}`; err != nil || string(back) != want {
		t.Errorf("%v %s", err, back)
	}
}

func TestWantedEntriesAreChecked(t *testing.T) {
	for _, tt := range []struct {
		e   Entry
		err string
	}{
		{Entry{Command: hookPath}, "wanted entry 0 () has no event"},
		{Entry{Event: "Stop"}, "wanted entry 0 (Stop) has no command"},
		{Entry{Event: "Stop", Command: "/bin/other"}, "wanted entry 0 (Stop) would not be recognised as ours"},
		{Entry{Event: "Stop", Command: hookPath, Shell: true}, "wanted entry 0 (Stop) is in shell form"},
		{Entry{Event: "Stop", Command: hookPath, Timeout: -1}, "wanted entry 0 (Stop) has a negative timeout"},
		{Entry{Event: "Stop", Command: "/\xff/stopgate/bin/hook"}, `wanted entry 0 (Stop) holds "/\xff/stopgate/bin/hook", which is not UTF-8 and cannot stand in JSON`},
	} {
		if _, _, err := Merge([]byte("{}"), []Entry{tt.e}, isOurs, nil); err == nil || err.Error() != tt.err {
			t.Errorf("%v", err)
		}
	}
	if _, _, err := Merge([]byte("{}"), wanted(0), nil, nil); err == nil {
		t.Error("nothing would ever be removed again")
	}
}

func TestFind(t *testing.T) {
	src := `{"hooks": {
		"Stop": [{"matcher": "m", "hooks": [{"type": "command", "command": "sh -c x", "timeout": 1.2}, {"type": "http", "command": "no"}]}, 7],
		"a b": [{"hooks": [{"command": "/x", "args": ["1", "2"], "async": true, "asyncRewake": true, "timeout": "5"}, {"command": "/y", "args": []}]}]
	}}`
	got, err := Find([]byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Found{
		{Entry{Event: "Stop", Matcher: "m", Command: "sh -c x", Shell: true, Timeout: 2}, "hooks.Stop[0].hooks[0]"},
		{Entry{Event: "a b", Command: "/x", Args: []string{"1", "2"}, Async: true, AsyncRewake: true}, `hooks["a b"][0].hooks[0]`},
		{Entry{Event: "a b", Command: "/y", Args: []string{}}, `hooks["a b"][0].hooks[1]`},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	for _, src := range []string{"", "[]", "{}", `{"hooks":[]}`, "\ufeff"} {
		if got, err := Find([]byte(src), nil); err != nil || got != nil {
			t.Errorf("%q: %v %v", src, got, err)
		}
	}
}

func TestLook(t *testing.T) {
	yes, no := true, false
	for _, tt := range []struct {
		src  string
		want Conditions
	}{
		{"", Conditions{}},
		{"[]", Conditions{}},
		{`{"disableAllHooks": true, "allowManagedHooksOnly": false, "env": {"A": "1", "B": 2, "C": true, "D": null, "E": []}}`,
			Conditions{&yes, &no, map[string]string{"A": "1", "B": "2", "C": "true"}}},
		{`{"disableAllHooks": "yes", "allowManagedHooksOnly": null, "env": []}`, Conditions{}},
		{`{"disableAllHooks": false, "disableAllHooks": true, "env": {"A": "1"}, "env": {"A": "\u0032"}}`, Conditions{&yes, nil, map[string]string{"A": "2"}}},
	} {
		if got, err := Look([]byte(tt.src)); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v %v", tt.src, got, err)
		}
	}
}

func TestDiff(t *testing.T) {
	if got := Diff([]byte("a\n"), []byte("a\n"), "f"); got != "" {
		t.Errorf("%q", got)
	}
	if got, want := Diff([]byte("a\nb"), []byte("a\nc\n"), "f"), "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"; got != want {
		t.Errorf("%q", got)
	}
	if got, want := Diff(nil, []byte("{}\n"), "f"), "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+{}\n"; got != want {
		t.Errorf("%q", got)
	}
	if got := Diff([]byte("{}\n"), nil, "f"); !strings.HasPrefix(got, "--- f\n+++ /dev/null\n") {
		t.Errorf("%q", got)
	}
}

func FuzzMerge(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(generate(rand.New(rand.NewPCG(seed, 5)), seed%2 == 0), uint8(seed%5))
	}
	for _, s := range []string{"", "{}", "[]", "{\n\t\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"" + hookPath + "\"}], \"hooks\": []}]}}", "{\"hooks\":{\"Stop\":[],\"Stop\":[]}}", "\xff\xfe{"} {
		f.Add([]byte(s), uint8(0))
	}
	f.Fuzz(func(t *testing.T, src []byte, variant uint8) {
		checkMerge(t, src, wanted(int(variant%5)))
		// What Merge refuses, Remove and Find still have to survive.
		if back, err := Remove(src, isOurs, nil); err == nil {
			if found, err := Find(back, isOurs); err != nil || len(found) > 0 {
				t.Fatalf("left over: %v %v", found, err)
			}
		}
		_, _ = Look(src)
	})
}
