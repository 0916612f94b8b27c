package v1alpha1

// FieldName is the name of a field of spec, or of a field below one.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=100
// +kubebuilder:validation:Pattern=`^[A-Za-z_$][-A-Za-z0-9_$]*$`
type FieldName string

// FieldPath is a path below spec, in which [] stands for every element of a list, such as bindings[].name.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=250
// +kubebuilder:validation:Pattern=`^[A-Za-z_$][-A-Za-z0-9_$]*(\[\])?(\.[A-Za-z_$][-A-Za-z0-9_$]*(\[\])?)*$`
type FieldPath string

// CatalogPath is a path as printer columns have it, which begins with a dot, such as .status.endpoint.
// +kubebuilder:validation:MinLength=2
// +kubebuilder:validation:MaxLength=500
// +kubebuilder:validation:XValidation:rule="self.startsWith('.') && !self.contains('..')",message="must be a JSONPath that begins with a dot and does not search, such as .status.endpoint"
type CatalogPath string

// CatalogForm says how the form of a kind looks.
type CatalogForm struct {
	// first are the fields of spec that everybody sees, in order.
	// +kubebuilder:validation:MaxItems=60
	// +listType=set
	// +optional
	First []FieldName `json:"first,omitempty"`
	// order is that of the other fields, by name, at any depth.
	// +kubebuilder:validation:MaxItems=300
	// +listType=set
	// +optional
	Order []FieldName `json:"order,omitempty"`
	// sections group the fields of spec below headings.
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=title
	// +optional
	Sections []CatalogSection `json:"sections,omitempty"`
	// begins are the values with which the form of a new object begins.
	// +kubebuilder:validation:MaxItems=30
	// +listType=map
	// +listMapKey=field
	// +optional
	Begins []CatalogValue `json:"begins,omitempty"`
	// unique are the fields whose values no two objects share, which a copy of an object leaves out.
	// +kubebuilder:validation:MaxItems=10
	// +listType=set
	// +optional
	Unique []FieldName `json:"unique,omitempty"`
	// people are fields with names of users and groups, as Kubernetes knows them.
	// +kubebuilder:validation:MaxItems=10
	// +listType=set
	// +optional
	People []FieldPath `json:"people,omitempty"`
	// offers are the fields for which the AWS account of the object offers values.
	// +kubebuilder:validation:MaxItems=30
	// +listType=map
	// +listMapKey=field
	// +optional
	Offers []CatalogOffer `json:"offers,omitempty"`
}

// CatalogSection is a part of a form with a heading of its own.
type CatalogSection struct {
	// title is the heading.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +required
	Title string `json:"title"`
	// fields of spec that the section has.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=40
	// +listType=set
	// +required
	Fields []FieldName `json:"fields"`
	// folded shows the section on demand only.
	// +optional
	Folded bool `json:"folded,omitempty"`
}

// CatalogValue is the value of a field.
type CatalogValue struct {
	// field of spec.
	// +required
	Field FieldName `json:"field"`
	// value as a form has it.
	// +kubebuilder:validation:MaxLength=500
	// +required
	Value string `json:"value"`
}

// CatalogOffer is a field for which an AWS account offers values.
type CatalogOffer struct {
	// field of spec.
	// +required
	Field FieldName `json:"field"`
	// dependsOn are the fields of spec on which the values depend, in addition to account and region.
	// +kubebuilder:validation:MaxItems=5
	// +listType=set
	// +optional
	DependsOn []FieldName `json:"dependsOn,omitempty"`
	// complete says that no other value can be used.
	// +optional
	Complete bool `json:"complete,omitempty"`
}

// CatalogReference is a field by which objects refer to other objects of their namespace.
// +kubebuilder:validation:XValidation:rule="has(self.to) != has(self.kindField)",message="name either the entry that it refers to, in to, or the field with the kind, in kindField"
type CatalogReference struct {
	// field with the name of the other object.
	// +required
	Field FieldPath `json:"field"`
	// to is the name of the CatalogEntry of the other object, such as sqsqueues.portico.dev.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	To string `json:"to,omitempty"`
	// kindField is the field beside it with the kind of the other object.
	// +optional
	KindField FieldName `json:"kindField,omitempty"`
	// optional says that the object works without the other one, which only it lets in.
	// +optional
	Optional bool `json:"optional,omitempty"`
}

// CatalogPage says what lists and the page of an object show.
type CatalogPage struct {
	// endpoint is where users connect to an object.
	// +optional
	Endpoint CatalogPath `json:"endpoint,omitempty"`
	// columns are the names of the printer columns that the page of an object also shows.
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=60
	// +listType=set
	// +optional
	Columns []string `json:"columns,omitempty"`
	// sentence describes an object: the clauses, with commas in between.
	// +kubebuilder:validation:MaxItems=15
	// +listType=atomic
	// +optional
	Sentence []CatalogClause `json:"sentence,omitempty"`
	// steps are the conditions on the way to Ready, in order.
	// +kubebuilder:validation:MaxItems=30
	// +listType=map
	// +listMapKey=condition
	// +optional
	Steps []CatalogStep `json:"steps,omitempty"`
}

// CatalogClause is a part of a sentence: the first of the phrases that holds.
type CatalogClause struct {
	// phrases, of which the first that holds is used.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	// +required
	Phrases []CatalogPhrase `json:"phrases"`
}

// CatalogPhrase is a text about an object. It holds if its conditions do and its fields are set.
type CatalogPhrase struct {
	// text, with {field} for the value of a field of spec.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +required
	Text string `json:"text"`
	// when are the conditions, all of which must hold.
	// +kubebuilder:validation:MaxItems=5
	// +listType=atomic
	// +optional
	When []CatalogTest `json:"when,omitempty"`
}

// CatalogTest is a condition on a field of spec: it is set, or it has a value.
type CatalogTest struct {
	// field of spec.
	// +required
	Field FieldName `json:"field"`
	// value that the field must have. Without it, any will do.
	// +kubebuilder:validation:MaxLength=200
	// +optional
	Value string `json:"value,omitempty"`
	// not says that the condition must not hold.
	// +optional
	Not bool `json:"not,omitempty"`
}

// CatalogStep is a condition that an object gets when a part of the work for it is done.
type CatalogStep struct {
	// condition is its type.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	// +required
	Condition string `json:"condition"`
	// title for people. The default is the type, in words.
	// +kubebuilder:validation:MaxLength=60
	// +optional
	Title string `json:"title,omitempty"`
	// optional says that not every object has it.
	// +optional
	Optional bool `json:"optional,omitempty"`
}

// CatalogStates say when an object is ready or has failed. What is neither is in progress.
type CatalogStates struct {
	// conditions are where the object has its conditions, if not at .status.conditions, such as
	// .status.parents[*].conditions.
	// +optional
	Conditions CatalogPath `json:"conditions,omitempty"`
	// ready holds if all of them do. Without any, it is the condition Ready.
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	// +optional
	Ready []CatalogState `json:"ready,omitempty"`
	// failed holds if one of them does: somebody has to do something.
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	// +optional
	Failed []CatalogState `json:"failed,omitempty"`
	// message is where the object says why, if not in the conditions.
	// +optional
	Message CatalogPath `json:"message,omitempty"`
}

// CatalogState is a test of a condition, or of a field.
// +kubebuilder:validation:XValidation:rule="has(self.condition) != has(self.field)",message="name either a condition or a field"
type CatalogState struct {
	// condition is the type of a condition.
	// +kubebuilder:validation:MaxLength=316
	// +optional
	Condition string `json:"condition,omitempty"`
	// field of the object, such as .status.phase.
	// +optional
	Field CatalogPath `json:"field,omitempty"`
	// values of which the condition's status or the field has one. The default is True.
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=100
	// +listType=set
	// +optional
	Values []string `json:"values,omitempty"`
	// reasons of which the condition has one. Without any, every reason will do.
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=100
	// +listType=set
	// +optional
	Reasons []string `json:"reasons,omitempty"`
}

// CatalogChange is the effect of changing one of some fields.
type CatalogChange struct {
	// fields of spec.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +listType=set
	// +required
	Fields []FieldName `json:"fields"`
	// effect is a sentence.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=500
	// +required
	Effect string `json:"effect"`
	// lower says that it is the effect of a lower number only.
	// +optional
	Lower bool `json:"lower,omitempty"`
}

// CatalogDeletion says what deleting an object does.
type CatalogDeletion struct {
	// confirmed says that the object holds data, so that a deletion must be confirmed.
	// +optional
	Confirmed bool `json:"confirmed,omitempty"`
	// deleted says in a few words what the deletion policy Delete does, such as: deleted from AWS, if empty.
	// +kubebuilder:validation:MaxLength=100
	// +optional
	Deleted string `json:"deleted,omitempty"`
	// effect is a sentence about how data is protected from loss or, without deletion policies, about what deleting
	// does.
	// +kubebuilder:validation:MaxLength=500
	// +optional
	Effect string `json:"effect,omitempty"`
	// lossyField is the boolean of spec that allows the loss of data.
	// +optional
	LossyField FieldName `json:"lossyField,omitempty"`
	// loss is a sentence about what is lost, if lossyField is set or if nothing protects the data.
	// +kubebuilder:validation:MaxLength=500
	// +optional
	Loss string `json:"loss,omitempty"`
	// protectedBy is the boolean of spec that refuses a deletion.
	// +optional
	ProtectedBy FieldName `json:"protectedBy,omitempty"`
	// editable are the fields of spec that count while the object is being deleted; * means all.
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=100
	// +listType=set
	// +optional
	Editable []string `json:"editable,omitempty"`
}
