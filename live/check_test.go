//go:build live

package live

func (w *world) check() {
	if w.scenario.Check != nil {
		w.scenario.Check(w)
	}
}
