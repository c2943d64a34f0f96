package span

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "1.5h": 90 * time.Minute, "0": 0, "0s": 0, "0d": 0, "+5m": 5 * time.Minute,
		"5d": 5 * day, "0.5d": day / 2, "1d12h": 36 * time.Hour, "1d0s": day, "-1d12h": -36 * time.Hour, "-90s": -90 * time.Second,
		"100000d": 100_000 * day, "106752d": math.MaxInt64 / 24 * 24,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "5", "soon", "1d 2h", "1d2", "d5", "2dd", "--5m", "-+5m", "1d-2h", "1d+2h", "NaNd", "-", "5m3", "1e999d", "1000000000d", "inf d", "Infd", "5 d", "0x10d", "1_0d"} {
		if got, err := Parse(text); !errors.Is(err, ErrSyntax) {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"5d", "1d12h", "-1.5h", "1e308d", "9223372036854775807ns", "d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		if back, err := Parse(d.String()); err != nil || back != d {
			t.Errorf("%q is %v, and that is %v, %v", text, d, back, err)
		}
	})
}

func TestSpanIsWrittenAsAPersonWould(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		10 * time.Minute: "10m", 2 * time.Hour: "2h", 90 * time.Minute: "1h30m", 90 * time.Second: "1m30s",
		30 * time.Second: "30s", 0: "0s", time.Hour + time.Second: "1h0m1s", 500 * time.Millisecond: "500ms", 20 * time.Hour: "20h", 9*time.Minute + 30*time.Second: "9m30s", 90*time.Minute + 10*time.Second: "1h30m10s",
		10 * time.Second: "10s", 10 * time.Hour: "10h", time.Hour + 10*time.Minute: "1h10m",
	} {
		got := Text(d)
		back, err := time.ParseDuration(got)
		if got != want || err != nil || back != d {
			t.Errorf("Text(%v) = %q (%v, %v), want %q", d, got, back, err, want)
		}
	}
}
