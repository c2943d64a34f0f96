package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// testLine puts "ours " before a command and takes it off again.
func testLine(want bool) StatusLine {
	return StatusLine{
		Want: want, Command: "ours", Refresh: 5,
		Wrap: func(theirs string) string { return "ours " + theirs },
		Unwrap: func(command string) (string, bool) {
			theirs, ours := strings.CutPrefix(command+" ", "ours ")
			return strings.TrimSuffix(theirs, " "), ours
		},
	}
}

func TestStatusLine(t *testing.T) {
	for _, c := range []struct{ name, file, want, refresh string }{
		{"there is none", `{"model":"x"}`, "ours", "5"},
		{"no file", "", "ours", "5"},
		{"there is one", "{\n\t\"statusLine\": {\"type\": \"command\", \"command\": \"~\\/bin\\u002fline\", \"padding\": 0},\n\t\"x\": 1\n}\n", "ours ~/bin/line", "5"},
		{"one that says how often", "{\"statusLine\":\n {\"command\":\"a 'b'\",\r\n \"refreshInterval\":60}}", "ours a 'b'", "60"},
		{"behind a byte order mark, without a last line end", "\xef\xbb\xbf{ \"statusLine\" : { \"command\" : \"a\" } }", "ours a", "5"},
	} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if c.file != "" {
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		opts := Options{Dir: t.TempDir(), BackupDir: t.TempDir(), StatusLine: testLine(true)}
		hook := []Entry{{Event: "Stop", Command: "/hook", Args: []string{}}}
		mine := func(command string, _ []string) bool { return command == "/hook" }
		for range 2 { // the second changes nothing
			if _, err := Install(path, hook, mine, opts); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			got, _ := os.ReadFile(path)
			line := gjson.GetBytes(got[max(0, strings.Index(string(got), "{")):], "statusLine")
			if line.Get("command").Str != c.want || line.Get("refreshInterval").Raw != c.refresh {
				t.Errorf("%s: %s", c.name, got)
			}
		}
		kept, _ := os.ReadFile(path)
		opts.StatusLine.Want = false
		if res, err := Install(path, hook, mine, opts); err != nil || res.Changed {
			t.Errorf("%s: an install that does not speak of it changed it: %v", c.name, err)
		}

		// Somebody else writes the file: the rest stays theirs.
		edited := strings.Replace(string(kept), "{", "{\"theme\":\"dark\",", 1)
		other := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(other, []byte(edited), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Uninstall(other, mine, opts); err != nil { // and no record is there
			t.Fatal(err)
		}
		got, _ := os.ReadFile(other)
		if left := gjson.GetBytes(got[strings.Index(string(got), "{"):], "statusLine.command").Str; strings.TrimSpace("ours "+left) != c.want {
			t.Errorf("%s: after an edit by another, without a record: %s", c.name, got)
		}

		if _, err := Uninstall(path, mine, opts); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != c.file {
			t.Errorf("%s: uninstall left %q, want %q", c.name, got, c.file)
		}
	}
}

// After somebody else has edited the file, the value of the status line still comes
// back to the byte.
func TestAStatusLineComesBackToTheByteThoughTheFileWasEdited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	const before = "{\n  \"statusLine\": {\"command\": \"~\\/bin\\u002fline\",  \"padding\": 0}\n}\n"
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := Options{Dir: t.TempDir(), BackupDir: t.TempDir(), StatusLine: testLine(true)}
	nobody := func(string, []string) bool { return false }
	if _, err := Install(path, nil, nobody, opts); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	edited := strings.Replace(string(got), "{\n", "{\n  \"model\": \"x\",\n", 1)
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(path, nil, nobody, opts); err != nil { // and was installed again
		t.Fatal(err)
	}
	if _, err := Uninstall(path, nobody, opts); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != strings.Replace(before, "{\n", "{\n  \"model\": \"x\",\n", 1) {
		t.Errorf("left %q", got)
	}
}

func TestAStatusLineThatRunsNoCommandIsLeftAlone(t *testing.T) {
	for _, file := range []string{`{"statusLine":"x"}`, `{"statusLine":{"type":"static"}}`, `{"statusLine":{"command":1}}`, `{"statusLine":{},"statusLine":{}}`, `[]`} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Install(path, nil, func(string, []string) bool { return false }, Options{Dir: t.TempDir(), BackupDir: t.TempDir(), StatusLine: testLine(true)}); err == nil {
			t.Errorf("%s: no error", file)
		}
		if got, _ := os.ReadFile(path); string(got) != file {
			t.Errorf("%s became %s", file, got)
		}
	}
}
