/// The path of a resource, relative to the service's root (URL Conventions, section 4).
///
///     ResourcePath(entitySet: "People").key("ada").property("Trips").count()
public struct ResourcePath: Sendable, Hashable {
    /// One property of a key; a key of a single property needs no name.
    public struct KeyPart: Sendable, Hashable {
        /// The value of a key property.
        public enum Value: Sendable, Hashable {
            /// A value.
            case literal(EdmValue)
            /// A parameter alias, without the `@`, for values that a server can't accept in a path.
            case alias(String)
        }

        /// The wire name of the property, or its name in an alternate key.
        public var name: String?
        /// The value of the property.
        public var value: Value

        /// Creates a part of a key. Alternate keys and keys of several properties need a name for each part.
        public init(name: String? = nil, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// One step of a path.
    public enum Segment: Sendable, Hashable {
        /// An entity set, singleton, property or other steps in OData syntax, not percent-encoded.
        case raw(String)
        /// An entity set, singleton, operation import, property or navigation property by its wire name.
        case name(String)
        /// A cast to a derived type by its qualified name.
        case cast(String)
        /// A bound operation by its qualified name, without parentheses: an action, or a function whose parameters are query options.
        case operation(String)
        /// A function with its parameters; bound ones by qualified name.
        case function(String, [QueryPath.Parameter])
        /// `(5)`, `(A=1,B='x')`, a key predicate after the previous segment.
        case key([KeyPart])
        /// `/5`: a key as a separate segment, for services whose metadata announces support.
        case keySegment(EdmValue)
        /// `/-1`: an element of an ordered collection; negative indexes count from the end. Version 4.01.
        case index(Int)
        /// `/$filter(…)`: the members that satisfy the condition. Version 4.01.
        case filter(QueryExpression)
        /// `/$each`: each member individually, for requests that change them. Version 4.01.
        case each
        /// `/$count`.
        case count
        /// `/$value`: the raw value, or the media stream.
        case value
        /// `/$ref`: references instead of entities; `$links` in V2.
        case ref
        /// `/$query`: for options in the body of a POST. Version 4.01.
        case query
        /// `$all`: every entity of every set.
        case allEntities
        /// `$crossjoin(A,B)`: every combination of members of these sets.
        case crossjoin([String])
        /// `$entity`, with ``QueryOptions/entityID``.
        case entity
        /// `$metadata`.
        case metadata
        /// `$batch`.
        case batch
        /// A step whose name couldn't be resolved: printing the path throws this error.
        indirect case invalid(ODataQueryError)
    }

    /// The steps, starting at the root.
    public var segments: [Segment]

    /// Creates a path from its steps.
    public init(segments: [Segment]) {
        self.segments = segments
    }

    /// Creates a path from text in OData syntax, not percent-encoded.
    public init(_ text: String) {
        segments = [.raw(text)]
    }

    /// Creates the path of an entity set.
    public init(entitySet name: String) {
        segments = [.name(name)]
    }

    /// Creates the path of a singleton.
    public init(singleton name: String) {
        segments = [.name(name)]
    }

    /// Creates the path of an unbound function by the name of its import.
    public init(function name: String, _ parameters: KeyValuePairs<String, any QueryOperand> = [:]) {
        segments = [.function(name, parameters.map { QueryPath.Parameter($0.key, $0.value.queryExpression) })]
    }

    /// Returns every combination of members of these sets: `$crossjoin(A,B)`.
    public static func crossjoin(_ names: String...) -> ResourcePath {
        ResourcePath(segments: [.crossjoin(names)])
    }

    /// Returns every entity of every set, or of a type: `$all`, `$all/Ns.Type`.
    public static func all(of type: String? = nil) -> ResourcePath {
        ResourcePath(segments: [.allEntities] + (type.map { [.cast($0)] } ?? []))
    }

    /// The entity identified by ``QueryOptions/entityID``: `$entity`.
    public static let entity = ResourcePath(segments: [.entity])
}

extension ResourcePath {
    func appending(_ segment: Segment) -> ResourcePath {
        var copy = self
        copy.segments.append(segment)
        return copy
    }

    /// Returns a member by its key.
    public func key(_ key: some EdmConvertible) -> ResourcePath {
        appending(.key([KeyPart(.literal(key.edmValue))]))
    }

    /// Returns a member by a key of several properties, or by an alternate key: `.key(["OrderID": 1, "ProductID": 7])`.
    public func key(_ parts: KeyValuePairs<String, any EdmConvertible>) -> ResourcePath {
        appending(.key(parts.map { KeyPart(name: $0.key, .literal($0.value.edmValue)) }))
    }

    /// Returns a member by a key in a parameter alias, which ``QueryBuilding/alias(_:_:)`` defines.
    public func key(alias: String) -> ResourcePath {
        appending(.key([KeyPart(.alias(alias))]))
    }

    /// Returns a member by its key as a segment: `/5`.
    public func keySegment(_ key: some EdmConvertible) -> ResourcePath {
        appending(.keySegment(key.edmValue))
    }

    /// Returns a property or navigation property by its wire name.
    public func property(_ name: String) -> ResourcePath {
        appending(.name(name))
    }

    /// Casts members or an entity to a derived type by the type's qualified name.
    public func cast(to type: String) -> ResourcePath {
        appending(.cast(type))
    }

    /// Returns the result of a bound function by its qualified name.
    public func function(_ name: String, _ parameters: KeyValuePairs<String, any QueryOperand> = [:]) -> ResourcePath {
        appending(.function(name, parameters.map { QueryPath.Parameter($0.key, $0.value.queryExpression) }))
    }

    /// Returns a bound action by its qualified name.
    public func action(_ name: String) -> ResourcePath {
        appending(.operation(name))
    }

    /// Returns the members that satisfy a condition: `/$filter(…)`.
    public func filter(_ condition: QueryTerm<Bool>) -> ResourcePath {
        appending(.filter(condition.queryExpression))
    }

    /// Returns an element of an ordered collection by its zero-based index; negative indexes count from the end, -1 is the last element.
    public func element(at index: Int) -> ResourcePath {
        appending(.index(index))
    }

    /// Returns each member individually: `/$each`.
    public func each() -> ResourcePath {
        appending(.each)
    }

    /// Returns the number of members: `/$count`.
    public func count() -> ResourcePath {
        appending(.count)
    }

    /// Returns the raw value, or the media stream: `/$value`.
    public func value() -> ResourcePath {
        appending(.value)
    }

    /// Returns references instead of entities: `/$ref`.
    public func ref() -> ResourcePath {
        appending(.ref)
    }
}

extension ResourcePath: CustomStringConvertible {
    /// A readable form of the path, without keys and other values.
    public var description: String {
        route
    }

    /// The beginning of a reference to a part of a batch, before the part's unique number.
    static let partMark = "$part-"

    /// The name of the resource in errors, logs and metrics: its path without values, to keep the number of distinct names small.
    var route: String {
        var text = ""
        for (index, segment) in segments.enumerated() {
            if index > 0, segment.isOwnStep { text += "/" }
            text += segment.route
        }
        return text
    }
}

extension ResourcePath.Segment {
    /// A Boolean value that indicates whether a `/` separates the segment from the previous one.
    var isOwnStep: Bool {
        if case .key = self { false } else { true }
    }

    fileprivate var route: String {
        switch self {
        case .raw(let text): text.hasPrefix(ResourcePath.partMark) ? "$…" : Self.withoutKeys(text)
        case .name(let name), .cast(let name), .operation(let name): name
        case .function(let name, let parameters): name + (parameters.isEmpty ? "()" : "(…)")
        case .key: "(…)"
        case .keySegment, .index: "…"
        case .filter: "$filter(…)"
        case .each: "$each"
        case .count: "$count"
        case .value: "$value"
        case .ref: "$ref"
        case .query: "$query"
        case .allEntities: "$all"
        case .crossjoin(let names): "$crossjoin(" + names.joined(separator: ",") + ")"
        case .entity: "$entity"
        case .metadata: "$metadata"
        case .batch: "$batch"
        case .invalid: "?"
        }
    }

    /// Replaces keys by an ellipsis: `People('ada')/Trips` becomes `People(…)/Trips`.
    private static func withoutKeys(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var depth = 0
        var isQuoted = false
        for character in text.unicodeScalars {
            if character == "'" { isQuoted.toggle() }
            let isSyntax = !isQuoted && character != "'"
            if isSyntax, character == ")" { depth = max(0, depth - 1) }
            if depth == 0, !isQuoted, character != "'" { result.append(character) }
            if isSyntax, character == "(" {
                if depth == 0 { result.append("…" as Unicode.Scalar) }
                depth += 1
            }
        }
        return String(result)
    }
}

extension ResourcePath {
    /// Returns the path extended by the property or the relation that a key path of the type refers to.
    func following(_ relation: AnyKeyPath, of type: Any.Type) -> ResourcePath {
        var copy = self
        for segment in PropertyCatalog.segments(of: relation, in: type) {
            switch segment {
            case .property(let name): copy.segments.append(.name(name))
            case .unresolved(let error): copy.segments.append(.invalid(error))
            default: continue
            }
        }
        return copy
    }
}
