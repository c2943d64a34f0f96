package timeline

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
)

// hostile is what somebody may call a thing.
const hostile = `</title><script>alert(1)</script><img src=x onerror=alert(1)>"'&<!--]]>` + "\x1b[31m\u202e\x00"

// named is the story with one text in the place of every name, id and command.
func named(text string) Record {
	r := story()
	s := &r.Session
	s.ID, s.Cwd = text, text
	r.Client = text
	rename := map[string]string{}
	for i := range s.Agents {
		a := &s.Agents[i]
		rename[a.ID] = a.ID + text
		a.Name, a.Description, a.Type, a.Team, a.Advice = text, text, text, text, text
	}
	for i := range s.Tasks {
		rename[s.Tasks[i].ID] = s.Tasks[i].ID + text
	}
	for id, moments := range r.Moments {
		for i := range moments {
			moments[i].Text, moments[i].About, moments[i].Tool = text, text, text
			if moments[i].To != "" {
				moments[i].To = text
			}
		}
		if to := rename[id]; to != "" {
			delete(r.Moments, id)
			r.Moments[to] = moments
		}
	}
	names := func(ids []string) {
		for i := range ids {
			ids[i] = rename[ids[i]]
		}
	}
	for i := range s.Agents {
		s.Agents[i].ID, s.Agents[i].Parent = rename[s.Agents[i].ID], rename[s.Agents[i].Parent]
		if h := s.Agents[i].Hold; h != nil {
			names(h.Tasks)
		}
	}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		t.ID, t.Kind, t.Output = rename[t.ID], text, text
		if to := rename[t.Owner]; to != "" {
			t.Owner = to
		}
	}
	for i := range s.Stops {
		x := &s.Stops[i]
		x.AgentID, x.Code, x.Host = rename[x.AgentID], text, text
		names(x.Own)
		names(x.Ended)
	}
	return r
}

// elements are the elements of a page or picture with their attributes' names, and
// its texts with the attributes' values.
func elements(t testing.TB, markup string) (tree string, words []string) {
	t.Helper()
	for _, own := range []string{style + pageStyle, style, pageScript} {
		markup = strings.ReplaceAll(markup, own, "") // ours, and no XML
	}
	markup = strings.TrimPrefix(markup, "<!DOCTYPE html>")
	var b strings.Builder
	in := xml.NewDecoder(strings.NewReader(markup))
	for {
		tok, err := in.Token()
		if errors.Is(err, io.EOF) {
			return b.String(), words
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			b.WriteString("<" + tok.Name.Local)
			for _, a := range tok.Attr {
				b.WriteString(" " + a.Name.Local)
				words = append(words, a.Value)
			}
			b.WriteString(">")
		case xml.EndElement:
			b.WriteString("/")
		case xml.CharData:
			words = append(words, string(tok))
		case xml.Comment, xml.Directive, xml.ProcInst:
			t.Fatalf("a %T in the page", tok)
		}
	}
}

func svg(t testing.TB, line Timeline) string {
	t.Helper()
	var b bytes.Buffer
	if err := Layout(line).SVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// kinds are the elements and attributes that a page may hold.
func kinds(tree string) map[string]bool {
	out := map[string]bool{}
	for _, element := range regexp.MustCompile(`<[^>]*>`).FindAllString(tree, -1) {
		out[element] = true
	}
	return out
}

func checkText(t testing.TB, text string) {
	t.Helper()
	plain, held := Build(named("plain")).In(time.UTC), Build(named(text)).In(time.UTC)
	for name, got := range map[string][2]string{
		"page":    {string(page(t, plain)), string(page(t, held))},
		"picture": {svg(t, plain), svg(t, held)},
	} {
		wantTree, _ := elements(t, got[0])
		tree, _ := elements(t, got[1])
		allowed := kinds(wantTree)
		for kind := range kinds(tree) {
			if !allowed[kind] {
				t.Fatalf("%s: a text brought %s into it: %q", name, kind, text)
			}
		}
		if strings.ContainsAny(got[1], "\x00\x1b\u202e\u2028\r") {
			t.Fatalf("%s: a control character of %q got through", name, text)
		}
	}
}

func TestTextsOfOthersAreTextsInThePage(t *testing.T) {
	for _, text := range []string{
		hostile, "", "\xff\xfe", "javascript:alert(1)", "]]></svg></g>", "&amp;lt;script&gt;", "{{.}}", "%s%d%!", strings.Repeat("W", 5000), "日本語 עברית",
	} {
		checkText(t, text)
	}
	_, words := elements(t, string(page(t, Build(named(hostile)))))
	if all := strings.Join(words, "\n"); !strings.Contains(all, "<script>alert(1)</script>") {
		t.Error("the text itself is not shown")
	}
}

func FuzzTextsOfOthers(f *testing.F) {
	f.Add(hostile)
	f.Add("x\" onload=\"y")
	f.Fuzz(func(t *testing.T, text string) { checkText(t, text) })
}

// The policy in the file names exactly the style and the script that stand in it,
// and nothing in it leads elsewhere.
func TestThePageAllowsWhatStandsInItAndNothingElse(t *testing.T) {
	whole := string(page(t, Build(story())))
	between := func(from, to string) string {
		_, rest, _ := strings.Cut(whole, from)
		body, _, _ := strings.Cut(rest, to)
		return body
	}
	policy := fmt.Sprintf(`content="default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'"`,
		sum(between("<style>", "</style>")), sum(between("<script>", "</script>")))
	if !strings.Contains(whole, policy) {
		t.Errorf("the policy is not %s", policy)
	}
	if n := strings.Count(whole, "<script") + strings.Count(whole, "<style"); n != 2 {
		t.Errorf("%d scripts and styles, want one each", n)
	}
	for _, found := range regexp.MustCompile(`(?i)(https?:|src=|url\([^#]|@import|style="|\bon\w+=")[^ ]*`).FindAllString(strings.ReplaceAll(whole, `"http://www.w3.org/2000/svg"`, ""), -1) {
		t.Errorf("something leads out, or stands where the policy forbids it: %s", found)
	}
	if strings.Contains(svg(t, Build(story())), "<script") {
		t.Error("a script in the picture")
	}
}

func TestTwoHundredAgentsOfHoursFitIntoTwoMegabytes(t *testing.T) {
	r := crowd(200)
	begun := time.Now()
	whole := page(t, Build(r))
	t.Logf("%d kB in %v", len(whole)/1000, time.Since(begun))
	if len(whole) > 2_000_000 {
		t.Errorf("the page has %d bytes", len(whole))
	}
	p := Layout(Build(r))
	spans := 0
	for _, row := range p.Rows {
		for _, it := range row.Items {
			if it.Shape == ShapeSpan {
				spans++
			}
		}
	}
	if spans > maxSpans || p.Merged == 0 {
		t.Errorf("%d spans are drawn, merged below %v", spans, p.Merged)
	}
}

func TestMergingKeepsEveryHoldAndTheWholeTime(t *testing.T) {
	for _, l := range Build(crowd(200)).Lanes {
		merged := coarser(l.Spans, time.Minute)
		if len(l.Spans) == 0 {
			continue
		}
		held := func(spans []Phase) (d time.Duration) {
			for _, s := range spans {
				if s.Doing == Held {
					d += s.Until.Sub(s.From)
				}
			}
			return d
		}
		if held(merged) != held(l.Spans) || !merged[0].From.Equal(l.Spans[0].From) || !merged[len(merged)-1].Until.Equal(l.Spans[len(l.Spans)-1].Until) {
			t.Fatalf("lane %s: %s became %s", l.ID, doing(l.Spans), doing(merged))
		}
	}
}

func TestTasksAndTheirLabelsDoNotLieOverEachOther(t *testing.T) {
	for _, row := range Layout(Build(crowd(5))).Rows {
		free := map[int]float64{}
		for _, it := range row.Items {
			if it.Shape != ShapeTask {
				continue
			}
			from, until := place(&it)
			if from < free[it.Y] {
				t.Errorf("%s: %q begins at %.0f, the one before ends at %.0f", row.Lane.Name, it.Label, from, free[it.Y])
			}
			free[it.Y] = until
		}
	}
}

func TestTicksAreRoundTimesOfTheZone(t *testing.T) {
	zone := time.FixedZone("", 5*3600+1800)
	for _, c := range []struct {
		length time.Duration
		want   string
	}{
		{45 * time.Second, "17:30:00 17:30:10 17:30:20 17:30:30 17:30:40"},
		{20 * time.Minute, "17:30 17:35 17:40 17:45 17:50"},
		{5 * time.Hour, "18:00 19:00 20:00 21:00 22:00"},
		{4 * 24 * time.Hour, "1 Dec 2 Dec 3 Dec 4 Dec"},
	} {
		var got []string
		for _, tick := range ticks(noon.In(zone), noon.Add(c.length).In(zone), 6) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: %v, want %s", c.length, got, c.want)
		}
	}
}

func TestAnEmptySessionHasAPicture(t *testing.T) {
	line := Build(Record{Now: noon, Session: status.Session{ID: "s"}, Moments: map[string][]transcript.Moment{}})
	elements(t, string(page(t, line)))
	elements(t, svg(t, line))
}
