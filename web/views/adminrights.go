package views

// UnusedStatus is the value of status in URLs for rights that have been unused for long.
const UnusedStatus = "unused"

// RightsAccount is an AWS account, and how its Pods get AWS rights.
type RightsAccount struct {
	Resource Resource
	Place    string // account and region
	Way      string // how Pods get rights; "" if they get none
	Look     Look   // whether its prerequisites are set up
	Use      []Use  // of its quotas
	Read     Moment // when they were read from AWS
}

// Right is the AWS rights that a ServiceAccount's Pods have.
type Right struct {
	Resource       Resource
	Team           string
	ServiceAccount string
	Uses           []Relation // each with what the Pods do there
	Role           string     // its name
	Shared         bool       // all Pods of the namespace use the role
	LastUsed       Moment
	Region         string // of the last use
	Never          string // why the last use is unknown
	Unused         bool   // long enough to be removed
}
