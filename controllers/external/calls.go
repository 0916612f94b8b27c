package external

import (
	"maps"
	"slices"
	"time"
)

// PlanCalls plans the changes. plan returns the actions for some of them. A change that Portico refuses has actions of
// its own. So have changes with a longer settling time: otherwise each change that shows would start another action for
// those that do not show yet.
func PlanCalls(changes []Change, plan func([]Change) []Action) []Action {
	var actions []Action
	byTime := map[time.Duration][]Change{}
	for _, c := range changes {
		if c.refusal == nil {
			byTime[c.settles] = append(byTime[c.settles], c)
			continue
		}
		for _, action := range plan([]Change{c}) {
			action.Refusal = c.refusal
			actions = append(actions, action)
		}
	}
	for _, settles := range slices.Sorted(maps.Keys(byTime)) {
		for _, action := range plan(byTime[settles]) {
			actions = append(actions, action.SettlingIn(settles))
		}
	}
	return actions
}

// PlanCall plans changes that one call can make; see PlanCalls. It can be divided, because AWS refuses a whole call for
// one value.
func PlanCall(changes []Change, call func([]Change) Action) []Action {
	return PlanCalls(changes, func(some []Change) []Action { return []Action{divisible(groups(some), call)} })
}

// divisible returns one action for all groups of changes, which can be divided between groups. Groups with a guard come
// first.
func divisible(groups [][]Change, call func([]Change) Action) Action {
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(a, b []Change) int { return guardsFirst(guards(a), guards(b)) })
	action := call(slices.Concat(groups...))
	if half := len(groups) / 2; half > 0 {
		action.Parts = func() []Action {
			return []Action{divisible(groups[:half], call), divisible(groups[half:], call)}
		}
	}
	return action
}

// groups divides changes into those that can be made alone, and those that AWS validates together.
func groups(changes []Change) [][]Change {
	var groups [][]Change
	for _, c := range changes {
		at := slices.IndexFunc(groups, func(group []Change) bool {
			return c.Together != "" && group[0].Together == c.Together
		})
		if at < 0 {
			groups = append(groups, []Change{c})
			continue
		}
		groups[at] = append(groups[at], c)
	}
	return groups
}

// SettlingIn returns the action with the time that it, and each of its parts, may take to become visible.
func (a Action) SettlingIn(d time.Duration) Action {
	parts := a.Parts
	if a.Settles = d; parts != nil {
		a.Parts = func() []Action {
			all := parts()
			for n := range all {
				all[n] = all[n].SettlingIn(d)
			}
			return all
		}
	}
	return a
}

func guards(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Guards })
}

// guardsFirst compares for a sort that puts guards first.
func guardsFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
