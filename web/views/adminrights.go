package views

// UnusedStatus is the value of status in URLs for rights that have been unused for long.
const UnusedStatus = "unused"

// RightsAccount is an AWS account, and how Pods get rights in it.
type RightsAccount struct {
	Resource Resource
	Place    string // account and region
	Way      string // how Pods get rights; "" if they get none
	Look     Look   // whether its prerequisites are set up
	Use      []Use  // of its quotas
	Read     Moment // when AWS was asked for them
}

// Right is the AWS rights of the Pods of a ServiceAccount.
type Right struct {
	Resource       Resource
	Team           string
	ServiceAccount string
	Uses           []Relation // each with what the Pods do there
	Role           string     // its name
	Shared         bool       // all Pods of the namespace use the role
	LastUsed       Moment
	Region         string // where that was
	Never          string // why there is no such time
	Unused         bool   // for so long that it can be removed
}
