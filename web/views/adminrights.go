package views

// UnusedStatus is the value of status in URLs that shows only rights that nobody has used for long.
const UnusedStatus = "unused"

// RightsAccount is an AWS account, and how Pods get rights in it.
type RightsAccount struct {
	Resource Resource
	Place    string // account and region
	Way      string // how Pods get rights, in words; "" if they get none
	Look     Look   // whether what that takes is there
	Use      []Use  // of its quotas
	Read     Moment // when AWS was asked for them
}

// Right is what the Pods of a ServiceAccount may do in AWS.
type Right struct {
	Resource       Resource
	Team           string
	ServiceAccount string
	Uses           []Relation // each with what the Pods do there
	Role           string     // its name
	Shared         bool       // all Pods of the namespace act as the role
	LastUsed       Moment
	Region         string // where that was
	Never          string // why there is no such time, in words
	Unused         bool   // for so long that it may go
}
