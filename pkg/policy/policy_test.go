package policy

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestCommandLines(t *testing.T) {
	t.Parallel()
	base := Policy{Mode: Gate, Lead: LeadHeadless, Blocks: DefaultBlocks, Patience: DefaultPatience, For: DefaultFor}
	with := func(change func(*Policy)) Policy { p := base; change(&p); return p }
	cases := []struct {
		args  string
		want  Policy
		flags string
	}{
		{"", base, ""},
		{"gate", base, ""},
		{"--blocks 3", with(func(p *Policy) { p.Blocks = 3 }), "--blocks=3"},
		{"--blocks=0", with(func(p *Policy) { p.Blocks = 0 }), "--blocks=0"},
		{"-blocks 2", with(func(p *Policy) { p.Blocks = 2 }), "--blocks=2"},
		{"--blocks 3 --blocks 1", base, ""},
		{"--observe", with(func(p *Policy) { p.Observe = true }), "--observe"},
		{"--observe=false", base, ""},
		{"gate --observe --blocks 2", with(func(p *Policy) { p.Observe, p.Blocks = true, 2 }), "--blocks=2 --observe"},
		{"--hold 10m", with(func(p *Policy) { p.Hold = 10 * time.Minute }), "--hold=10m0s"},
		{"--hold 0s", base, ""},
		{"--hold 0.5d", with(func(p *Policy) { p.Hold = 12 * time.Hour }), "--hold=12h0m0s"},
		{"--hold 1d", with(func(p *Policy) { p.Hold = 24 * time.Hour }), "--hold=24h0m0s"},
		{"--hold 24h", with(func(p *Policy) { p.Hold = 24 * time.Hour }), "--hold=24h0m0s"},
		{"--hold 9m30s --patience 2h", with(func(p *Policy) { p.Hold, p.Patience = 570*time.Second, 2*time.Hour }), "--hold=9m30s --patience=2h0m0s"},
		{"--hold 9m --patience 0", with(func(p *Policy) { p.Hold, p.Patience = 9*time.Minute, 0 }), "--hold=9m0s --patience=0s"},
		{"courier", with(func(p *Policy) { p.Mode = Courier }), "courier"},
		{"courier --for 30m", with(func(p *Policy) { p.Mode, p.For = Courier, 30*time.Minute }), "courier --for=30m0s"},
		{"lead", with(func(p *Policy) { p.Mode = Lead }), "lead"},
		{"lead --lead always --patience 20m", with(func(p *Policy) { p.Mode, p.Lead, p.Patience = Lead, LeadAlways, 20*time.Minute }), "lead --lead=always --patience=20m0s"},
		{"--", base, ""},
	}
	for _, c := range cases {
		got, err := Parse(strings.Fields(c.args))
		got.given = nil
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %+v, %v", c.args, got, err)
		}
		if flags := strings.Join(got.Flags(), " "); flags != c.flags {
			t.Errorf("%q: flags %q, want %q", c.args, flags, c.flags)
		}
		// What is stored means the same again.
		again, err := Parse(got.Flags())
		again.given = nil
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%q: its flags mean %+v, %v", c.args, again, err)
		}
	}
	p, err := Parse([]string{"--ignore", "^make serve", "--ignore=(a|b)"})
	if err != nil || len(p.Ignore) != 2 || p.Ignore[1].String() != "(a|b)" || strings.Join(p.Flags(), " ") != "--ignore=^make serve --ignore=(a|b)" {
		t.Errorf("patterns: %+v, %v", p, err)
	}
}

// What the command line names, a file does not change.
func TestWhatTheCommandLineNames(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"": "", "gate": "", "--hold 0s": "hold", "-hold=9m --ignore x": "hold ignore", "--observe=false": "observe", "courier --for 2h": "for", "lead --patience 2h": "patience", "--hold 9m30s --patience 1h": "",
	} {
		p, err := Parse(strings.Fields(args))
		var named []string
		for _, flag := range []string{"blocks", "for", "hold", "ignore", "lead", "observe", "patience"} {
			if p.Given(flag) {
				named = append(named, flag)
			}
		}
		if got := strings.Join(named, " "); err != nil || got != want {
			t.Errorf("%q names %q, want %q (%v)", args, got, want, err)
		}
	}
}

// An old program under newer settings does nothing.
func TestUnknownCommandLinesAreErrors(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"guard"}, {"Gate"}, {""}, {" gate"}, {"gate", "gate"}, {"--observe", "gate"}, {"extra", "--blocks", "1"}, {"--", "x"}, {"-"},
		{"--bogus"}, {"--blocks"}, {"--blocks", ""}, {"--blocks", "x"}, {"--blocks", "1.5"}, {"--blocks", "-1"}, {"--blocks", "99999999999999999999"}, {"--blocks=1", "2"},
		{"--observe=perhaps"}, {"--observe", "true"},
		{"--hold"}, {"--hold", "10"}, {"--hold", "soon"}, {"--hold", "-1s"}, {"--hold", "25h"}, {"--hold", "5d"}, {"--hold", "d"}, {"--patience"}, {"--patience", "long"}, {"--patience", "25h"}, {"courier", "--patience", "1h"}, {"lead", "--hold", "1m"}, {"lead", "--lead", "sometimes"}, {"lead", "--lead"}, {"--lead", "always"},
		{"--ignore"}, {"--ignore", "("}, {"--ignore", "a{99999}"},
		{"--for", "1h"}, {"courier", "--blocks", "1"}, {"courier", "--hold", "1s"}, {"courier", "--observe"}, {"courier", "--for", "-1s"},
	} {
		if p, err := Parse(args); err == nil || !reflect.DeepEqual(p, Policy{}) {
			t.Errorf("%q: %+v, %v", args, p, err)
		}
	}
	for _, args := range [][]string{{"-h"}, {"--help"}, {"gate", "--help"}, {"courier", "-h"}} {
		if _, err := Parse(args); !errors.Is(err, ErrHelp) {
			t.Errorf("%q: %v", args, err)
		}
	}
	for _, flag := range []string{"--blocks", "--observe", "--hold", "--patience", "--ignore", "--for", "--lead", "gate", "courier", "lead"} {
		if !strings.Contains(Usage, flag) {
			t.Errorf("the help does not name %s", flag)
		}
	}
}
