package catalog

import "testing"

func TestHelpIsASentence(t *testing.T) {
	for _, c := range []struct{ name, description, want string }{
		{"engine", "engine is the database engine.", "The database engine."},
		{"tags", "tags are names and values.", "Names and values."},
		{"visibility", "visibility: internal is\nfor the VPC.", "Internal is for the VPC."},
		{"forceDestroy", "forceDestroy lets deletion empty the bucket.", "Lets deletion empty the bucket."},
		{"zoneId", "zoneId of the hosted zone.", "Zone ID of the hosted zone."},
		{"maxHostnames", "maxHostnames that the namespace can have.", "Max hostnames that the namespace can have."},
		{"name", "how it is called", "how it is called"},
	} {
		if got := help(c.name, c.description); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
