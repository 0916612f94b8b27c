package views

import "testing"

func TestTheOverviewSaysASentenceOnce(t *testing.T) {
	crash := Happening{Text: "The container ends with code 1."}
	var all []string
	d := Detail{Headline: crash.Text, NoEvents: "There are none.", Events: []Happening{
		crash, {Text: "a"}, {Text: "b"}, crash, {Text: "c"}, {Text: "d"},
	}}
	events, _ := d.latest()
	for _, e := range events {
		all = append(all, e.Text)
	}
	if len(all) != 3 || all[0] != "a" || all[2] != "c" {
		t.Errorf("the latest events are %q", all)
	}
	if events, none := (Detail{Headline: crash.Text, Events: []Happening{crash}}).latest(); len(events) > 0 ||
		none != "No other recent events." {
		t.Errorf("%v, %q", events, none)
	}
	if _, none := (Detail{NoEvents: "There are none."}).latest(); none != "There are none." {
		t.Errorf("without events: %q", none)
	}
}
