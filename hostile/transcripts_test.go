//go:build hostile && linux

package hostile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// maxMemory bounds the peak of a hook, whatever the transcripts are.
const maxMemory = 48 << 20

// What a transcript can be instead of a file of records, and what it can hold.
// want is the verdict on a stop of its agent while its shell runs.
var transcripts = []struct {
	name string
	want string
	make func(w *world, path string)
}{
	{"missing", allows, func(w *world, path string) { w.remove(path) }},
	{"empty", allows, func(w *world, path string) { w.write(path, "") }},
	{"a pipe", allows, func(w *world, path string) { w.replace(path, func() error { return syscall.Mkfifo(path, 0o666) }) }},
	{"a folder", allows, func(w *world, path string) { w.replace(path, func() error { return os.Mkdir(path, 0o777) }) }},
	{"a link that leads nowhere", allows, func(w *world, path string) { w.replace(path, func() error { return os.Symlink(path+".gone", path) }) }},
	{"a link to itself", allows, func(w *world, path string) { w.replace(path, func() error { return os.Symlink(path, path) }) }},
	{"a link to an endless device", allows, func(w *world, path string) { w.replace(path, func() error { return os.Symlink("/dev/zero", path) }) }},
	{"a link to a terminal", allows, func(w *world, path string) { w.replace(path, func() error { return os.Symlink("/dev/tty", path) }) }},
	{"a link to memory", allows, func(w *world, path string) {
		w.replace(path, func() error { return os.Symlink("/proc/self/mem", path) })
	}},
	{"a link to a good one", blocks, func(w *world, path string) {
		good := path + ".good"
		w.replace(path, func() error {
			return errors.Join(os.WriteFile(good, []byte(w.launch("a1")), 0o666), os.Symlink(good, path))
		})
	}},
	{"a megabyte of NULs inside the launch", allows, func(w *world, path string) {
		whole := w.answer("a1", taskOf("a1"))
		w.write(path, w.call("a1", taskOf("a1"))+whole[:100]+strings.Repeat("\x00", 1<<20)+whole[100:])
	}},
	{"a megabyte of NULs before the launch", blocks, func(w *world, path string) {
		w.write(path, w.call("a1", taskOf("a1"))+strings.Repeat("\x00", 1<<20)+w.answer("a1", taskOf("a1")))
	}},
	{"a megabyte of NULs on a line of its own", blocks, func(w *world, path string) {
		w.write(path, strings.Repeat("\x00", 1<<20)+"\n"+w.launch("a1"))
	}},
	{"the launch spliced into another record", blocks, func(w *world, path string) {
		says := strings.TrimSuffix(w.says("a1", "torn"), "\n")
		w.write(path, says[:60]+w.call("a1", taskOf("a1"))+says[:70]+w.answer("a1", taskOf("a1")))
	}},
	{"call and answer on one line", blocks, func(w *world, path string) {
		w.write(path, strings.TrimSuffix(w.call("a1", taskOf("a1")), "\n")+w.answer("a1", taskOf("a1")))
	}},
	{"a line of 20 MB before the launch", blocks, func(w *world, path string) {
		w.write(path, w.says("a1", strings.Repeat("long ", 4<<20))+w.launch("a1"))
	}},
	{"a line of 20 MB behind the launch", blocks, func(w *world, path string) {
		w.write(path, w.launch("a1")+w.says("a1", strings.Repeat("long ", 4<<20)))
	}},
	{"a line of 20 MB that is the launch", decides, func(w *world, path string) {
		answer := strings.TrimSuffix(w.answer("a1", taskOf("a1")), "}\n")
		w.write(path, w.call("a1", taskOf("a1"))+answer+`,"pad":"`+strings.Repeat("x", 20<<20)+`"}`+"\n")
	}},
	{"twenty lines of 3.9 MB that look like launches", blocks, func(w *world, path string) {
		w.write(path, "")
		for range 20 {
			w.append(path, strings.TrimSuffix(w.call("a1", "b-other"), "}\n")+`,"pad":"`+strings.Repeat(`\"`, 39<<15)+`"}`+"\n")
		}
		w.append(path, w.launch("a1"))
	}},
	{"nested without end", blocks, func(w *world, path string) {
		w.write(path, `{"type":"user","tool_use":"tool_use",`+strings.Repeat(`"a":[{`, 500_000)+"\n"+w.launch("a1"))
	}},
	{"a hundred thousand torn beginnings on a line", blocks, func(w *world, path string) {
		w.write(path, strings.Repeat(`{"type":"user" "tool_use" `, 100_000)+"\n"+w.launch("a1"))
	}},
	{"invalid UTF-8 around the launch", blocks, func(w *world, path string) {
		w.write(path, "\xff\xfe\xc0\x80\n"+w.call("a1", taskOf("a1"))+"{\"type\":\"user\",\"x\":\"\xff\xed\xa0\x80\"}\n"+w.answer("a1", taskOf("a1")))
	}},
	{"invalid UTF-8 inside the launch", blocks, func(w *world, path string) {
		w.write(path, strings.Replace(w.launch("a1"), `"make"`, "\"make \xff\xfe\"", 1))
	}},
	{"ends of line as on Windows", blocks, func(w *world, path string) { w.write(path, strings.ReplaceAll(w.launch("a1"), "\n", "\r\n")) }},
	{"no end of line", allows, func(w *world, path string) {
		w.write(path, w.call("a1", taskOf("a1"))+strings.TrimSuffix(w.answer("a1", taskOf("a1")), "\n"))
	}},
	{"2 GB, mostly a hole", decides, func(w *world, path string) {
		w.write(path, w.launch("a1"))
		if err := os.Truncate(path, 2<<30); err != nil {
			w.t.Fatal(err)
		}
	}},
	{"2 GB, a hole and then the launch", decides, func(w *world, path string) {
		w.write(path, "")
		if err := os.Truncate(path, 2<<30); err != nil {
			w.t.Fatal(err)
		}
		w.append(path, "\n"+w.launch("a1"))
	}},
	{"without the right to read it", blocks, func(w *world, path string) {
		_ = os.Chmod(path, 0) // root reads it all the same
	}},
}

func (w *world) remove(path string) {
	w.t.Helper()
	if err := os.RemoveAll(path); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) replace(path string, by func() error) {
	w.t.Helper()
	w.remove(path)
	if err := by(); err != nil {
		w.t.Fatal(err)
	}
}

// checkMemory looks at the peak of a measured run.
func (w *world) checkMemory(r result) {
	w.t.Helper()
	if r.usage.MaxRSS > maxMemory {
		w.t.Errorf("used %d MB", r.usage.MaxRSS>>20)
	}
	w.t.Logf("%v, %.1f MB", r.took.Round(time.Millisecond), float64(r.usage.MaxRSS)/(1<<20))
}

func TestHostileTranscripts(t *testing.T) {
	for _, c := range transcripts {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "without the right to read it" {
				needRoot(t)
			}
			w := newWorld(t)
			w.agent("a1")
			c.make(w, w.transcript("a1"))
			r := w.run(setup{payload: w.payload("a1"), measure: true})
			w.holds(r, c.want)
			w.checkMemory(r)
			w.works()
		})
	}
}

// The same things in the coordinator's place: the agent's own launch stands in
// its own transcript, so the verdict is a block.
func TestHostileCoordinatorsTranscripts(t *testing.T) {
	for _, c := range transcripts {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.agent("a1")
			c.make(w, w.main())
			payload := w.payload("a1", func(p map[string]any) {
				tasks, _ := p["background_tasks"].([]any)
				p["background_tasks"] = append(tasks, map[string]any{"id": "somebodys", "type": "shell", "status": "running"})
			})
			r := w.run(setup{payload: payload, measure: true})
			w.holds(r, blocks)
			w.checkMemory(r)
		})
	}
}

// The same things in place of the meta file, and of a sibling's transcript.
func TestHostileMetaFilesAndSiblings(t *testing.T) {
	for _, c := range transcripts {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.agent("a1")
			c.make(w, strings.TrimSuffix(w.transcript("a1"), ".jsonl")+".meta.json")
			c.make(w, w.transcript("a2"))
			payload := w.payload("a1", func(p map[string]any) {
				tasks, _ := p["background_tasks"].([]any)
				p["background_tasks"] = append(tasks, map[string]any{"id": "a2", "type": "subagent", "status": "running"}, map[string]any{"id": "x", "type": "shell", "status": "running"})
			})
			r := w.run(setup{payload: payload, measure: true})
			w.holds(r, blocks)
			w.checkMemory(r)
		})
	}
}

// What becomes of a transcript between two stops: the second stop reads what is
// there then.
func TestTranscriptsThatChangeBetweenTwoStops(t *testing.T) {
	type change struct {
		name string
		do   func(w *world, path string)
	}
	rest := func(w *world) string { return w.launch("a1") }
	for _, c := range []change{
		{"appended", func(w *world, path string) { w.append(path, rest(w)) }},
		{"cut short and written again", func(w *world, path string) {
			if err := os.Truncate(path, 0); err != nil {
				w.t.Fatal(err)
			}
			w.append(path, rest(w))
		}},
		{"cut shorter and written longer", func(w *world, path string) {
			if err := os.Truncate(path, 200); err != nil {
				w.t.Fatal(err)
			}
			w.append(path, "\n"+rest(w)+strings.Repeat(w.says("a1", "more"), 500))
		}},
		{"replaced", func(w *world, path string) {
			w.write(path+".new", rest(w)+strings.Repeat(w.says("a1", "more"), 500))
			if err := os.Rename(path+".new", path); err != nil {
				w.t.Fatal(err)
			}
		}},
		{"replaced by a shorter one", func(w *world, path string) {
			w.write(path+".new", rest(w))
			if err := os.Rename(path+".new", path); err != nil {
				w.t.Fatal(err)
			}
		}},
		{"rewritten in place, same inode and length", func(w *world, path string) {
			info, err := os.Stat(path)
			if err != nil {
				w.t.Fatal(err)
			}
			text := rest(w)
			text += `{"pad":"` + strings.Repeat("x", int(info.Size())-len(text)-len(`{"pad":""}`)-1) + "\"}\n"
			file, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err == nil {
				_, err = file.WriteString(text)
				err = errors.Join(err, file.Close())
			}
			if now, _ := os.Stat(path); err != nil || now.Size() != info.Size() || !os.SameFile(info, now) {
				w.t.Fatalf("not rewritten: %v", err)
			}
		}},
		{"gone and back", func(w *world, path string) {
			w.remove(path)
			w.holds(w.run(setup{payload: w.payload("a1", set("last_assistant_message", "meanwhile"))}), allows)
			w.write(path, rest(w))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.agent("a1")
			w.write(w.transcript("a1"), strings.Repeat(w.says("a1", "before"), 100))
			w.holds(w.run(setup{payload: w.payload("a1", set("last_assistant_message", "before"))}), allows)
			c.do(w, w.transcript("a1"))
			w.holds(w.run(setup{payload: w.payload("a1")}), blocks)
		})
	}
}

// A transcript that grows all the time, cut and replaced now and then.
func TestTranscriptsThatChangeWhileTheyAreRead(t *testing.T) {
	w := newWorld(t)
	w.agent("a1")
	path := w.transcript("a1")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		long := w.says("a1", strings.Repeat("long ", 10_000))
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			switch {
			case i%40 == 39:
				_ = os.Truncate(path, 1000)
			case i%97 == 96:
				_ = errors.Join(os.WriteFile(path+".new", []byte(long), 0o600), os.Rename(path+".new", path))
			default:
				file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
				if err == nil {
					_, _ = file.WriteString(strings.Repeat(long, 20))
					_ = file.Close()
				}
			}
			time.Sleep(time.Millisecond)
		}
	}()
	for range 40 {
		r := w.run(setup{payload: w.payload("a1"), measure: true})
		w.holds(r, decides)
		if r.usage.MaxRSS > maxMemory {
			t.Errorf("used %d MB", r.usage.MaxRSS>>20)
		}
	}
	close(stop)
	<-done
	w.works()
}

// Output files of every kind, in a hold: it ends by its own time.
func TestHostileOutputFiles(t *testing.T) {
	for _, c := range transcripts {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.agent("a1")
			c.make(w, w.output(taskOf("a1")))
			r := w.run(setup{payload: w.payload("a1"), args: []string{"gate", "--hold", "500ms"}, measure: true})
			w.holds(r, blocks)
			w.checkMemory(r)
		})
	}
}

// A child agent that is held for, with a transcript of every kind.
func TestHostileChildTranscriptsInAHold(t *testing.T) {
	for _, c := range transcripts {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.agent("a1")
			c.make(w, w.transcript("c1"))
			start := line(map[string]any{"session_id": w.session, "hook_event_name": "PostToolUse", "transcript_path": w.main(), "cwd": w.dir, "agent_id": "a1", "tool_name": "Agent", "tool_use_id": "toolu_c",
				"tool_input": map[string]any{}, "tool_response": map[string]any{"status": "async_launched", "agentId": "c1", "outputFile": filepath.Join(w.dir, "c1.output")}})
			w.holds(w.run(setup{payload: []byte(start)}), allows)
			payload := w.payload("a1", set("background_tasks", []any{map[string]any{"id": "c1", "type": "subagent", "status": "running"}}))
			r := w.run(setup{payload: payload, args: []string{"gate", "--hold", "500ms"}, measure: true})
			w.holds(r, blocks)
			w.checkMemory(r)
			t.Logf("%v of processor time", r.usage.CPU)
		})
	}
}
