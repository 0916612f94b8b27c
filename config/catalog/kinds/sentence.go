package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// clause returns the clause with the phrases, of which the first that holds is used.
func clause(phrases ...v1alpha1.CatalogPhrase) v1alpha1.CatalogClause {
	return v1alpha1.CatalogClause{Phrases: phrases}
}

// phrase returns the text that holds if the tests do.
func phrase(text string, when ...v1alpha1.CatalogTest) v1alpha1.CatalogPhrase {
	return v1alpha1.CatalogPhrase{Text: text, When: when}
}

// set holds if the field has a value.
func set(field v1alpha1.FieldName) v1alpha1.CatalogTest { return v1alpha1.CatalogTest{Field: field} }

// unset holds if the field has no value.
func unset(field v1alpha1.FieldName) v1alpha1.CatalogTest {
	return v1alpha1.CatalogTest{Field: field, Not: true}
}

// is holds if the field has this value.
func is(field v1alpha1.FieldName, value string) v1alpha1.CatalogTest {
	return v1alpha1.CatalogTest{Field: field, Value: value}
}

// made holds if the resource is not adopted: Portico makes it.
func made() v1alpha1.CatalogTest {
	return v1alpha1.CatalogTest{Field: "adoptionPolicy", Value: "Adopt", Not: true}
}

// The phrases about the policies of resources in AWS.
var (
	observed = phrase("only observed: Portico changes and deletes nothing in AWS", is("managementPolicy", "Observe"))
	retained = phrase("kept in AWS when you delete it here", is("deletionPolicy", "Retain"))
	orphaned = phrase("kept in AWS when you delete it here and no longer managed by Portico",
		is("deletionPolicy", "Orphan"))
)

// decidesDeletion returns the effect of changing a field that counts when the object is deleted.
func decidesDeletion(field v1alpha1.FieldName) v1alpha1.CatalogChange {
	return v1alpha1.CatalogChange{
		Fields: []v1alpha1.FieldName{field}, Effect: "Nothing changes now: it decides what a deletion does.",
	}
}
