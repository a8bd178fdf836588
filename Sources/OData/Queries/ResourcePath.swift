/// The path of a resource from the service's root (URL Conventions, section 4).
///
///     ResourcePath(entitySet: "People").key("ada").property("Trips").count()
public struct ResourcePath: Sendable, Hashable {
    /// One property of a key; a key of a single property needs no name.
    public struct KeyPart: Sendable, Hashable {
        /// What a key property is compared with.
        public enum Value: Sendable, Hashable {
            /// A value.
            case literal(EdmValue)
            /// A parameter alias, without the `@`: for values that a server can't take in a path.
            case alias(String)
        }

        /// The property's wire name, or the name of an alternate key's.
        public var name: String?
        /// Its value.
        public var value: Value

        /// A part of a key; all parts of a key of several properties need names, as do those of an alternate key.
        public init(name: String? = nil, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// One step.
    public enum Segment: Sendable, Hashable {
        /// An entity set, singleton, property or whatever else the text says: OData's own spelling, not percent-encoded.
        case raw(String)
        /// An entity set, singleton, operation import, property or navigation property by its wire name.
        case name(String)
        /// A cast to a derived type by its qualified name.
        case cast(String)
        /// A bound operation by its qualified name, without parentheses: an action, or a function whose parameters are query options.
        case operation(String)
        /// A function with its parameters; bound ones by qualified name.
        case function(String, [QueryPath.Parameter])
        /// `(5)`, `(A=1,B='x')`, behind the segment before.
        case key([KeyPart])
        /// `/5`: a key as a segment of its own, for services that say so in their metadata.
        case keySegment(EdmValue)
        /// `/-1`: an element of an ordered collection; negative from the end. Version 4.01.
        case index(Int)
        /// `/$filter(…)`: the members that the condition holds for. Version 4.01.
        case filter(QueryExpression)
        /// `/$each`: every member on its own, for requests that change them. Version 4.01.
        case each
        /// `/$count`.
        case count
        /// `/$value`: the raw value, or the media stream.
        case value
        /// `/$ref`: references in place of entities; `$links` in V2.
        case ref
        /// `/$query`: for options that are the body of a POST. Version 4.01.
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
        /// A step whose name couldn't be found: printing the path throws this error.
        indirect case invalid(ODataQueryError)
    }

    /// The steps, from the root on.
    public var segments: [Segment]

    /// A path from its steps.
    public init(segments: [Segment]) {
        self.segments = segments
    }

    /// A path of OData's own spelling, not percent-encoded.
    public init(_ text: String) {
        segments = [.raw(text)]
    }

    /// The members of an entity set.
    public init(entitySet name: String) {
        segments = [.name(name)]
    }

    /// An entity that has a name.
    public init(singleton name: String) {
        segments = [.name(name)]
    }

    /// What an unbound function gives, by its import's name.
    public init(function name: String, _ parameters: KeyValuePairs<String, any QueryOperand> = [:]) {
        segments = [.function(name, parameters.map { QueryPath.Parameter($0.key, $0.value.queryExpression) })]
    }

    /// Every combination of members of these sets: `$crossjoin(A,B)`.
    public static func crossjoin(_ names: String...) -> ResourcePath {
        ResourcePath(segments: [.crossjoin(names)])
    }

    /// Every entity of every set, or of a type: `$all`, `$all/Ns.Type`.
    public static func all(of type: String? = nil) -> ResourcePath {
        ResourcePath(segments: [.allEntities] + (type.map { [.cast($0)] } ?? []))
    }

    /// The entity that ``QueryOptions/entityID`` names: `$entity`.
    public static let entity = ResourcePath(segments: [.entity])
}

extension ResourcePath {
    func appending(_ segment: Segment) -> ResourcePath {
        var copy = self
        copy.segments.append(segment)
        return copy
    }

    /// A member by its key.
    public func key(_ key: some EdmConvertible) -> ResourcePath {
        appending(.key([KeyPart(.literal(key.edmValue))]))
    }

    /// A member by a key of several properties, or by an alternate key: `.key(["OrderID": 1, "ProductID": 7])`.
    public func key(_ parts: KeyValuePairs<String, any EdmConvertible>) -> ResourcePath {
        appending(.key(parts.map { KeyPart(name: $0.key, .literal($0.value.edmValue)) }))
    }

    /// A member by a key that a parameter alias stands for; ``QueryBuilding/alias(_:_:)`` says its value.
    public func key(alias: String) -> ResourcePath {
        appending(.key([KeyPart(.alias(alias))]))
    }

    /// A member by its key as a segment: `/5`.
    public func keySegment(_ key: some EdmConvertible) -> ResourcePath {
        appending(.keySegment(key.edmValue))
    }

    /// A property or navigation property by its wire name.
    public func property(_ name: String) -> ResourcePath {
        appending(.name(name))
    }

    /// The members of a derived type, or an entity seen as one, by the type's qualified name.
    public func cast(to type: String) -> ResourcePath {
        appending(.cast(type))
    }

    /// What a bound function gives, by its qualified name.
    public func function(_ name: String, _ parameters: KeyValuePairs<String, any QueryOperand> = [:]) -> ResourcePath {
        appending(.function(name, parameters.map { QueryPath.Parameter($0.key, $0.value.queryExpression) }))
    }

    /// A bound action, by its qualified name.
    public func action(_ name: String) -> ResourcePath {
        appending(.operation(name))
    }

    /// The members that a condition holds for: `/$filter(…)`.
    public func filter(_ condition: QueryTerm<Bool>) -> ResourcePath {
        appending(.filter(condition.queryExpression))
    }

    /// An element of an ordered collection, from 0, or from the end with -1 for the last.
    public func element(at index: Int) -> ResourcePath {
        appending(.index(index))
    }

    /// Every member on its own: `/$each`.
    public func each() -> ResourcePath {
        appending(.each)
    }

    /// The number of members: `/$count`.
    public func count() -> ResourcePath {
        appending(.count)
    }

    /// The raw value, or the media stream: `/$value`.
    public func value() -> ResourcePath {
        appending(.value)
    }

    /// References in place of entities: `/$ref`.
    public func ref() -> ResourcePath {
        appending(.ref)
    }
}

extension ResourcePath: CustomStringConvertible {
    /// The path for people, without keys and other values.
    public var description: String {
        route
    }

    /// What the resource is called in errors, logs and metrics: its path without values, so that there are few of them.
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
    /// Whether a `/` stands before the segment, where it isn't the first.
    var isOwnStep: Bool {
        if case .key = self { false } else { true }
    }

    fileprivate var route: String {
        switch self {
        case .raw(let text): Self.withoutKeys(text)
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

    /// `People('ada')/Trips` as `People(…)/Trips`.
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
    /// The path, gone on to the property or the relation that a key path of the type leads to.
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
