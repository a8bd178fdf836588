extension ServiceModel {
    /// An annotation: a term applied to an element (section 14.2).
    public struct Annotation: Sendable, Hashable {
        /// The qualified name of the term: `Org.OData.Core.V1.Description`.
        public var term: String
        /// The qualifier, or `nil`.
        public var qualifier: String?
        /// The value, or `nil` for the default value of the term.
        public var value: Expression?
        /// The annotations of the annotation.
        public var annotations: [Annotation]
        var place = Place.unknown

        /// The position in the document.
        public var position: Position? { place.position }
        /// Whether the annotation is a tag that is set: its value is `true` or missing.
        public var isTrue: Bool { value == nil || value?.boolValue == true }

        /// Creates an annotation.
        public init(term: String, qualifier: String? = nil, value: Expression? = nil, annotations: [Annotation] = []) {
            self.term = term
            self.qualifier = qualifier
            self.value = value
            self.annotations = annotations
        }
    }

    /// The value of an annotation (sections 14.3 and 14.4).
    ///
    /// CSDL JSON writes dates, paths, members of enumerations and similar values as strings. They are read as ``string(_:)``, and ``text``
    /// returns the text in both formats. The reader bounds the nesting of expressions.
    public indirect enum Expression: Sendable, Hashable {
        /// Binary data in Base64url, as written.
        case binary(String)
        /// A Boolean.
        case bool(Bool)
        /// A date: `2026-11-27`.
        case date(String)
        /// A point in time: `2026-11-27T10:00:00Z`.
        case dateTimeOffset(String)
        /// A decimal, as written.
        case decimal(String)
        /// A duration: `PT5M`.
        case duration(String)
        /// Members of an enumeration, each with its type: `Sales.Color/Red`.
        case enumMembers([String])
        /// A floating-point number, as written: `1.5e10`, `INF`.
        case float(String)
        /// A GUID.
        case guid(String)
        /// An integer.
        case int(Int64)
        /// A string.
        case string(String)
        /// A time of day: `10:00:00`.
        case timeOfDay(String)

        /// The value at a path (section 14.4.1.2).
        case path(String)
        /// A path to a property.
        case propertyPath(String)
        /// A path to a navigation property.
        case navigationPropertyPath(String)
        /// A path to an annotation.
        case annotationPath(String)
        /// A path to a property or navigation property.
        case anyPropertyPath(String)
        /// A path to an element of the model.
        case modelElementPath(String)

        /// A collection.
        case collection([Expression])
        /// A record.
        case record(Record)
        /// A call of a client-side function, such as `odata.concat`.
        case apply(function: String, arguments: [Expression])
        /// A conversion to a type. Its nullability has no meaning.
        case cast(Expression, type: TypeReference)
        /// Whether a value is of a type. Its nullability has no meaning.
        case isOf(Expression, type: TypeReference)
        /// One of two values; without the third expression, nothing in a collection.
        case `if`(Expression, then: Expression, else: Expression?)
        /// Null.
        case null
        /// An expression with a qualified name that other expressions can refer to.
        case labeledElement(name: String, Expression)
        /// A reference to a labeled expression by its qualified name.
        case labeledElementReference(String)
        /// A negation: `Not`, or `Neg` for numbers.
        case unary(UnaryOperator, Expression)
        /// A logical, comparison or arithmetic operation.
        case binaryOperation(BinaryOperator, Expression, Expression)
        /// A URL, with an expression for its text.
        case urlReference(Expression)

        /// An expression with annotations.
        case annotated(Expression, [Annotation])
    }
}

extension ServiceModel.Expression {
    /// An operator with one operand (section 14.4.2).
    public enum UnaryOperator: String, Sendable, Hashable, CaseIterable {
        /// The logical negation.
        case not = "Not"
        /// The arithmetic negation.
        case negate = "Neg"
    }

    /// An operator with two operands (sections 14.4.2 and 14.4.3); the names are those of the elements of CSDL XML.
    public enum BinaryOperator: String, Sendable, Hashable, CaseIterable {
        /// The operators.
        case and = "And", or = "Or", equal = "Eq", notEqual = "Ne", greater = "Gt", greaterOrEqual = "Ge", less = "Lt", lessOrEqual = "Le"
        /// The operators.
        case has = "Has", isIn = "In", add = "Add", subtract = "Sub", multiply = "Mul", divide = "Div", divideBy = "DivBy", modulo = "Mod"
    }

    /// A record: named values (section 14.4.12).
    public struct Record: Sendable, Hashable {
        /// A value of a record.
        public struct PropertyValue: Sendable, Hashable {
            /// The name of the property.
            public var name: String
            /// The value; `nil` means the default value of the property.
            public var value: ServiceModel.Expression?
            /// The annotations of the value.
            public var annotations: [ServiceModel.Annotation]

            /// Creates a value.
            public init(name: String, value: ServiceModel.Expression?, annotations: [ServiceModel.Annotation] = []) {
                self.name = name
                self.value = value
                self.annotations = annotations
            }
        }

        /// The qualified name of the type, or `nil` for the type that the context expects.
        public var type: String?
        /// The values.
        public var values: [PropertyValue]
        /// The annotations of the record.
        public var annotations: [ServiceModel.Annotation]

        /// Creates a record.
        public init(type: String? = nil, values: [PropertyValue] = [], annotations: [ServiceModel.Annotation] = []) {
            self.type = type
            self.values = values
            self.annotations = annotations
        }

        /// The value of a property, or `nil`.
        public subscript(name: String) -> ServiceModel.Expression? { values.first { $0.name == name }?.value }
    }

    /// The expression without its annotations.
    public var bare: ServiceModel.Expression {
        if case .annotated(let inner, _) = self { inner.bare } else { self }
    }

    /// The Boolean, or `nil` if the expression isn't one.
    public var boolValue: Bool? {
        if case .bool(let value) = bare { value } else { nil }
    }

    /// The integer, or `nil` if the expression isn't one.
    public var intValue: Int64? {
        if case .int(let value) = bare { value } else { nil }
    }

    /// The text of a string, of another constant that CSDL JSON writes as a string, or of a path. For members of enumerations, their names
    /// joined by commas. `nil` for other expressions.
    public var text: String? {
        switch bare {
        case .binary(let text), .date(let text), .dateTimeOffset(let text), .duration(let text), .guid(let text), .string(let text),
            .timeOfDay(let text), .path(let text), .propertyPath(let text), .navigationPropertyPath(let text), .annotationPath(let text),
            .anyPropertyPath(let text), .modelElementPath(let text):
            text
        case .enumMembers(let members): members.map { $0.split(separator: "/").last.map(String.init) ?? $0 }.joined(separator: ",")
        default: nil
        }
    }

    /// The elements of a collection, or `nil` if the expression isn't one.
    public var elements: [ServiceModel.Expression]? {
        if case .collection(let elements) = bare { elements } else { nil }
    }

    /// The record, or `nil` if the expression isn't one.
    public var recordValue: Record? {
        if case .record(let record) = bare { record } else { nil }
    }

    /// The value of a property if the expression is a record.
    public subscript(name: String) -> ServiceModel.Expression? { recordValue?[name] }
}
