package command

import (
	"strings"
	"testing"
	"time"
)

// A text can be anything, also made to be slow or deep: whatever it is, the verdict
// is there at once.
func TestHostileTextIsJudgedAtOnce(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{
		"(", "((", "$(", "`", "'", `"`, `"$(`, "{ ", "${", "${a:-", "$((", "[[ ", "<(", "if ", "while ", "until ", "case x in ", "for ", "! ", "a|", "a&&", "a||", "a;", "a&", "<<E ", "<<E\n", "<<-E\n", ")", "}", "\\", "\n", "\x00", "\xff", "\ue000",
		"f(){ f;f;};", "f(){ g;g;};g(){ f;f;};f;", "sh -c '", `bash -c "`, `eval "`, "eval ", "env ", "npx ", "sudo ", "timeout 1 ", "xargs ", "ssh h ", "a=$a$a;", "$a ", "npm run dev & wait;", "yarn workspace a ", "-a", "-", "--", "=", "~", "*?[", "é", "\U0001f600",
		"concurrently a ", "tail -f x | ", "while true; do ", "function a { ", "coproc ", "time ", "select x in a; do ", "@(", "!(", "$'", `$"`, "#", "<", ">", "<a>", "2>&1", "&>", ">|", "<<<", "((i=", "let ", "declare a=(",
	} {
		text := strings.Repeat(piece, 1+Cut/len(piece))
		for _, text := range []string{text, text + "npm run dev", "npm run dev; " + text, text[:Cut-1]} {
			began := time.Now()
			Judge(text)
			if took := time.Since(began); took > time.Second {
				t.Errorf("%q repeated took %v", piece, took)
			}
		}
	}
}

// Whatever a command is named and says, a verdict is told in words of our own.
func FuzzJudge(f *testing.F) {
	for _, name := range []string{"first.tsv", "second.tsv", "third.tsv"} {
		for _, l := range listOf(f, name) {
			f.Add(l.command)
		}
	}
	f.Add("f(){ f;};f")
	f.Add(strings.Repeat("$(", 99) + "npm run dev")
	words := vocabulary()
	f.Fuzz(func(t *testing.T, text string) {
		v := Judge(text)
		if v.Answer < Ends || v.Answer > Never || len(v.Words) > maxWords {
			t.Errorf("%q: %v", text, v)
		}
		for _, w := range v.Words {
			if !words[w] {
				t.Errorf("%q: the word %q is the command's own", text, w)
			}
		}
		if again := Judge(text); again.String() != v.String() {
			t.Errorf("%q: %v, then %v", text, v, again)
		}
	})
}

// vocabulary are all words that a verdict can have.
func vocabulary() map[string]bool {
	all := map[string]bool{}
	add := func(lists ...list) {
		for _, l := range lists {
			l.each(func(w string) bool {
				w, _, _ = strings.Cut(w, "~")
				all[w] = true
				return false
			})
		}
	}
	for row := range strings.Lines(table) {
		if row = strings.TrimSpace(row); row == "" || row[0] == '#' {
			continue
		}
		l := readLine(row)
		name, _, _ := strings.Cut(row, " ")
		add(list(name), l.never, l.ends, l.text, l.words)
		add(l.subs...)
	}
	add(endOptions, endPrefixes, watchOptions, neverOptions, neverCommands, aloneCommands, endCommands, quickCommands, serving, doing, runs, parts, around, installing, servers)
	// What the code says in its own words.
	add("while,until,for,select,-h,-c,-N,-n,-m,-f,--file,-p,--project-name,--profile,-k,--kill-others,--kill-signal,infinity,fork,logs,--follow,--reload,run,workspace,workspaces,--run,server,exporter,open,start,--publish,-P,--publish-all,-w,--watch,-V,dev")
	all["~"] = true
	return all
}
