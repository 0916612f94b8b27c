package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// databaseUser describes the kind DatabaseUser.
var databaseUser = v1alpha1.CatalogEntrySpec{
	Definition: ours("databaseusers"), Title: "Database user", Icon: "lock",
	Form: v1alpha1.CatalogForm{
		First: fields("databaseRef access"),
		Order: fields("name authentication passwordRotationDays expiresAt deletionPolicy"),
	},
	References: []v1alpha1.CatalogReference{
		{Field: "databaseRef.name", To: name("rdsinstances")},
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".status.username",
		Sentence: []v1alpha1.CatalogClause{
			clause(phrase("in the database {databaseRef}")),
			clause(
				phrase("that reads", is("access", "Read")),
				phrase("that writes", is("access", "Write")),
				phrase("that reads and writes"),
			),
			clause(
				phrase("signing in by IAM", is("authentication", "IAM")),
				phrase("signing in with a password"),
			),
			clause(
				phrase("kept in the database when you delete it here", is("deletionPolicy", "Retain")),
				phrase("dropped when you delete it here"),
			),
		},
		Steps: steps("DatabaseReached UserReady BindingReady"),
	},
	Changes: []v1alpha1.CatalogChange{
		{
			Fields: fields("access"),
			Effect: "Rights change at once; in MySQL and MariaDB, for new connections. With less than ReadWrite the " +
				"tables that the user has made in PostgreSQL are no longer its own.",
		},
		decidesDeletion("deletionPolicy"),
	},
	Deletion: v1alpha1.CatalogDeletion{
		Effect: "The user is dropped from the database, and programs that use it can no longer sign in. Tables " +
			"that it created stay.",
		Loss:     "No data is lost: what the user has made stays in the database.",
		Editable: words("deletionPolicy"),
	},
}
