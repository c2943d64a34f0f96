//go:build browser

package timeline

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// These tests look at the page in a headless Chromium:
//
//	go test -tags browser ./pkg/timeline
//	go test -tags browser ./pkg/timeline -pictures ../../docs/pictures   # and keep its pictures
var pictures = flag.String("pictures", "", "write the pictures for the documentation into this folder")

// kept writes the page of a timeline into a file.
func kept(t *testing.T, line Timeline) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "timeline.html")
	if err := os.WriteFile(path, page(t, line.In(time.UTC)), 0o600); err != nil { //realtime: only a browser opens it
		t.Fatal(err)
	}
	return path
}

func TestInABrowser(t *testing.T) {
	b := start(t)
	pages := map[string]Timeline{
		"a story":            Build(story()),
		"hostile names":      Build(named(hostile)),
		"an empty session":   Build(Record{Now: noon}),
		"2.1.332, siblings":  recorded(t, "2.1.332/sib-sdk"),
		"2.1.220, a team":    recorded(t, "2.1.220/team-tui"),
		"2.1.235, all kinds": recorded(t, "2.1.235/kinds-sdk"),
	}
	for name, line := range pages {
		b.open(kept(t, line))
		for _, text := range b.trouble() {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestHostileNamesAreShownAsText(t *testing.T) {
	b := start(t)
	b.open(kept(t, Build(named(hostile))))
	var got struct {
		Scripts, Images int
		Title, Shown    bool
	}
	b.eval(`({scripts: document.scripts.length, images: document.images.length,
		title: document.title.includes("<script>alert(1)</script>"), shown: document.querySelector("h1").textContent.includes("<img src=x onerror=alert(1)>")})`, &got)
	if got.Scripts != 1 || got.Images != 0 || !got.Title || !got.Shown {
		t.Errorf("%+v", got)
	}
	if found := b.trouble(); len(found) > 0 {
		t.Errorf("%v", found)
	}
}

func TestTwoHundredAgentsOpenWithinASecond(t *testing.T) {
	b := start(t)
	b.open(kept(t, Build(story()))) // the browser itself is up
	path := kept(t, Build(crowd(200)))
	best := time.Hour
	for range 5 { // the machine may have other things to do
		best = min(best, b.open(path))
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kB, painted after %v", info.Size()/1000, best)
	if best > time.Second || info.Size() > 2_000_000 {
		t.Errorf("painted after %v, %d bytes", best, info.Size())
	}
	begun := time.Now()
	b.eval(`document.querySelector("#in").click(), new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))`, nil)
	if took := time.Since(begun); took > time.Second {
		t.Errorf("zooming took %v", took)
	}
}

// What a screen reader is told: names and roles, in the drawing and in the tables.
func TestNamesAndRoles(t *testing.T) {
	b := start(t)
	b.open(kept(t, Build(story())))
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value string }
		}
	}
	b.call("Accessibility.enable", nil, nil)
	b.call("Accessibility.getFullAXTree", nil, &tree)
	have := map[string][]string{}
	for _, n := range tree.Nodes {
		if !n.Ignored {
			have[n.Role.Value] = append(have[n.Role.Value], n.Name.Value)
		}
	}
	for role, names := range map[string][]string{
		"heading":      {"Session 5f0c2b1e-story", "Agents", "Tasks", "Stops, wakes and messages"},
		"button":       {"zoom in", "zoom out", "fit"},
		"group":        {"run the tests (general-purpose), running", "coordinator"},
		"image":        {"task b0 (shell) of run the tests: exit 2", "nobody heard of the end of vite build", "run the tests is held until 12:15:00", "reviewer is held for go test -race", "stop 1 blocked: task-ended", "now, 12:12:00"},
		"columnheader": {"Agent", "Command", "Heard by", "What"},
		"rowheader":    {"run the tests (general-purpose)"},
	} {
		for _, name := range names {
			if !strings.Contains(strings.Join(append(have[role], have["img"]...), "\n"), name) {
				t.Errorf("no %s named %q among %q", role, name, have[role])
			}
		}
	}
	for _, name := range append(have["image"], have["img"]...) {
		if name == "" {
			t.Error("an image without a name")
		}
	}
}

func TestTheKeyboardReachesEverything(t *testing.T) {
	b := start(t)
	b.open(kept(t, Build(story())))
	b.eval(`document.querySelector(".frame").focus()`, nil)
	seen := map[string]bool{}
	for range 4 { // lanes
		for range 12 {
			b.press("ArrowRight")
			var tip string
			b.eval(`document.activeElement.classList.contains("i") ? document.querySelector("#tip").textContent : ""`, &tip)
			seen[tip] = true
		}
		b.press("ArrowDown")
		for range 12 {
			b.press("ArrowLeft")
		}
	}
	all := ""
	for tip := range seen {
		all += tip + "\n"
	}
	for _, want := range []string{"make test", "is held", "woken by the courier", "find slow queries", "npm run dev"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q was not reached: %s", want, all)
		}
	}
	var before, zoomed, back float64
	b.eval(`document.querySelector(".sheet").offsetWidth`, &before)
	b.press("+")
	b.press("+")
	b.eval(`document.querySelector(".sheet").offsetWidth`, &zoomed)
	b.press("0")
	b.eval(`document.querySelector(".sheet").offsetWidth`, &back)
	if zoomed < 1.8*before || back != before {
		t.Errorf("widths %v, zoomed %v, back %v", before, zoomed, back)
	}
}

// contrast computes the contrast of pairs of the style sheet's colours as the
// browser resolves them (WCAG 2: 4.5 for text, 3 for what is drawn).
const contrast = `(() => {
	const style = getComputedStyle(document.documentElement);
	const light = (name) => {
		const hex = style.getPropertyValue(name).trim();
		const part = (i) => { const v = parseInt(hex.slice(i, i + 2), 16) / 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
		return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
	};
	return (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
})()`

func TestContrast(t *testing.T) {
	b := start(t)
	b.open(kept(t, Build(story())))
	for _, scheme := range []string{"light", "dark"} {
		b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
		for pair, least := range map[[2]string]float64{
			{"--ink", "--paper"}: 4.5, {"--ink", "--panel"}: 4.5, {"--faint", "--paper"}: 4.5, {"--faint", "--panel"}: 4.5,
			{"--held-ink", "--paper"}: 4.5, {"--held-ink", "--panel"}: 4.5, {"--alarm", "--paper"}: 4.5, {"--alarm", "--panel"}: 4.5,
			{"--ink", "--task"}: 4.5, {"--ink", "--bad"}: 4.5, {"--ink", "--gone"}: 4.5,
			{"--work", "--paper"}: 3, {"--answer-edge", "--paper"}: 3, {"--held-deep", "--paper"}: 3, {"--task-edge", "--paper"}: 3, {"--bad-edge", "--paper"}: 3,
			{"--gone-edge", "--paper"}: 3, {"--block", "--paper"}: 3, {"--wake", "--paper"}: 3, {"--message", "--paper"}: 3, {"--now", "--paper"}: 3, {"--idle", "--paper"}: 2.5,
		} {
			var got float64
			b.eval(fmt.Sprintf("(%s)(%q, %q)", contrast, pair[0], pair[1]), &got)
			if got < least {
				t.Errorf("%s: %s on %s has %.2f, want %.1f", scheme, pair[0], pair[1], got, least)
			}
		}
	}
}

// The page in the light and the dark, on paper, and in a small window: something is
// drawn, and with -pictures it is kept.
func TestPictures(t *testing.T) {
	b := start(t)
	for _, c := range []struct {
		name          string
		line          Timeline
		scheme        string
		width, height int
	}{
		{"timeline-light", Build(story()), "light", 1320, 570},
		{"timeline-dark", Build(story()), "dark", 1320, 570},
		{"timeline-siblings-light", recorded(t, "2.1.332/sib-sdk"), "light", 1320, 390},
		{"timeline-siblings-dark", recorded(t, "2.1.220/sib-tui"), "dark", 1320, 390},
		{"timeline-small", Build(story()), "light", 700, 500},
	} {
		b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": c.width, "height": c.height, "deviceScaleFactor": 1, "mobile": false}, nil)
		b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": c.scheme}}}, nil)
		b.open(kept(t, c.line))
		var shot struct{ Data string }
		b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
		data, err := base64.StdEncoding.DecodeString(shot.Data)
		if err != nil || !bytes.HasPrefix(data, []byte("\x89PNG")) || len(data) < 20_000 {
			t.Fatalf("%s: a picture of %d bytes, %v", c.name, len(data), err)
		}
		if *pictures != "" && !strings.HasSuffix(c.name, "small") {
			if err := os.WriteFile(filepath.Join(*pictures, c.name+".png"), data, 0o600); err != nil { //realtime: a picture for the documentation
				t.Fatal(err)
			}
		}
	}
	var pdf struct{ Data string }
	b.call("Page.printToPDF", map[string]any{"landscape": true}, &pdf)
	if len(pdf.Data) < 10_000 {
		t.Errorf("printed %d bytes", len(pdf.Data))
	}
}
