package handler

// notifier is what the hook becomes where there may be something to tell a person: it
// begins hookctl, which lies beside it, and goes. A hook that ends with 2 says more than
// that (docs/client.md: the hook contract), so the shell ends with 0 whatever hookctl
// does; and the client waits for the end of both streams, so hookctl gets none.
const notifier = `[ -n "$0" ] && "${0%/*}/hookctl" notice --session="$1" </dev/null >/dev/null 2>&1 & exit 0`

// handOver lets hookctl tell a person what has come of a hold or a courier, where that
// person's own file asks for it. It comes last, and does not return then: to start a
// second process takes 20 kB of program more than to become another one.
func (r *run) handOver() {
	if !r.tell || r.h.Become == nil {
		return
	}
	if r.configure(); r.notify {
		r.h.Become(notifier, r.h.Self(), r.e.SessionID)
	}
}
