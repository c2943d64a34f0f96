package command

import (
	"os"
	"strings"
	"testing"
)

// labelled is a command and what it really does.
type labelled struct {
	want    Answer
	command string
}

func listOf(t testing.TB, name string) []labelled {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out []labelled
	for row := range strings.Lines(string(data)) {
		if strings.HasPrefix(row, "#") {
			continue
		}
		label, command, found := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		want, ok := map[string]Answer{"never": Never, "ends": Ends, "unclear": Unclear}[label]
		if !found || !ok {
			t.Fatalf("%s: %q", name, row)
		}
		out = append(out, labelled{want, strings.ReplaceAll(command, `\n`, "\n")})
	}
	return out
}

// What is promised of any list: at most a tenth of what never ends is waited for,
// and at most a fiftieth of what ends is not.
func TestTheListsAreJudgedAsPromised(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"first.tsv", "second.tsv", "third.tsv"} {
		all := map[Answer]int{}
		waited, ignored := 0, 0
		for _, l := range listOf(t, name) {
			all[l.want]++
			v := Judge(l.command)
			switch {
			case l.want == Never && v.Answer != Never:
				waited++
				t.Logf("%s: waited for: %s (%v)", name, l.command, v)
			case l.want == Ends && v.Answer == Never:
				ignored++
				t.Logf("%s: ignored: %s (%v)", name, l.command, v)
			case l.want == Unclear && v.Answer == Never:
				t.Logf("%s: taken for sure: %s (%v)", name, l.command, v)
			}
		}
		t.Logf("%s: of %d that never end %d are waited for; of %d that end %d are ignored", name, all[Never], waited, all[Ends], ignored)
		if 10*waited > all[Never] || 50*ignored > all[Ends] {
			t.Errorf("%s: of %d that never end %d are waited for; of %d that end %d are ignored", name, all[Never], waited, all[Ends], ignored)
		}
	}
}
