package stack

// Password is the password of every sample user.
const Password = "portico"

// Prefix is the prefix of names and groups from Dex, in RBAC.
const Prefix = "oidc:"

// User is a sample user.
type User struct {
	Name      string   // the preferred_username; the context in the kubeconfig
	Title     string   // a description for people
	Groups    []string // as in Dex's tokens
	Namespace string   // the default namespace of the user's context
}

// Users are the sample users: a developer of each of two teams, a platform administrator, a user with read access
// only, an owner of a team who decides about its members, and a developer of a team that does not exist yet.
var Users = []User{
	{Name: "payments-dev", Title: "Developer of team payments", Groups: []string{"team-payments"}, Namespace: "payments"},
	{Name: "search-dev", Title: "Developer of team search", Groups: []string{"team-search"}, Namespace: "search"},
	{Name: "platform-admin", Title: "Platform administrator", Groups: []string{"platform-admins"}, Namespace: Namespace},
	{Name: "viewer", Title: "Viewer of team payments", Groups: []string{"viewers"}, Namespace: "payments"},
	{Name: "payments-owner", Title: "Owner of team payments", Groups: []string{"payments-owners"}, Namespace: "payments"},
	{Name: "growth-dev", Title: "Developer of team growth, to be made", Groups: []string{"team-growth"}, Namespace: "growth"},
}

// Email returns the login at Dex.
func (u User) Email() string { return u.Name + "@portico.test" }

// KubernetesName returns the user's name in RBAC and in access reviews.
func (u User) KubernetesName() string { return Prefix + u.Name }

func (u User) kubernetesGroups() []string {
	groups := make([]string, len(u.Groups))
	for i, group := range u.Groups {
		groups[i] = Prefix + group
	}
	return groups
}

func userNamed(name string) (User, bool) {
	for _, user := range Users {
		if user.Name == name {
			return user, true
		}
	}
	return User{}, false
}
