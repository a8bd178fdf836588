public import WebServiceClient

/// The rarely used query options, stored in one reference.
struct RareOptions: Sendable, Hashable {
    var apply: [Transformation] = []
    var compute: [Computation] = []
    var levels: ExpansionLevels?
    var index: Int?
    var format: String?
    var schemaVersion: String?
    var skipToken: String?
    var deltaToken: String?
    var entityID: String?
    var temporal: [TemporalBound] = []
    var aliases: [ParameterAlias] = []
    var headers = HTTPFields()
}

/// A parameter alias and its value: `@name=value`.
public struct ParameterAlias: Sendable, Hashable {
    /// The name, without the `@`.
    public var name: String
    /// The value of the alias.
    public var value: QueryExpression

    /// Creates an alias from its parts.
    public init(_ name: String, _ value: QueryExpression) {
        self.name = name
        self.value = value
    }
}

/// A property that the query computes: `$compute=Price mul Amount as Total`.
public struct Computation: Sendable, Hashable {
    /// The expression that computes the property.
    public var expression: QueryExpression
    /// The name of the computed property.
    public var name: String

    /// Creates a computed property from its parts.
    public init(_ expression: QueryExpression, as name: String) {
        self.expression = expression
        self.name = name
    }
}

/// A bound of a temporal query: `$at`, `$from`, `$to`, `$toInclusive` (OData Temporal Data, section 4).
public struct TemporalBound: Sendable, Hashable {
    /// The kinds of bounds; the raw value is the option's name.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// At this time.
        case at = "$at"
        /// From this time on.
        case from = "$from"
        /// Before this time.
        case to = "$to"
        /// Up to this time.
        case toInclusive = "$toInclusive"
    }

    /// The kind of the bound.
    public var kind: Kind
    /// The time: a literal, or `min` or `max` as a path.
    public var value: QueryExpression

    /// Creates a bound from its parts.
    public init(_ kind: Kind, _ value: QueryExpression) {
        self.kind = kind
        self.value = value
    }
}

extension QueryOptions {
    private func read<Value>(_ path: KeyPath<RareOptions, Value>, _ none: Value) -> Value {
        rare.isEmpty ? none : rare[0][keyPath: path]
    }

    private mutating func write<Value>(_ path: WritableKeyPath<RareOptions, Value>, _ value: Value) {
        var options = rare.first ?? RareOptions()
        options[keyPath: path] = value
        rare = options == RareOptions() ? [] : [options]
    }

    /// `$apply`: the set transformations, each applied to the result of the previous one.
    public var apply: [Transformation] {
        get { read(\.apply, []) }
        set { write(\.apply, newValue) }
    }

    /// `$compute`: properties that the query computes.
    public var compute: [Computation] {
        get { read(\.compute, []) }
        set { write(\.compute, newValue) }
    }

    /// `$levels`; for expansions only.
    public var levels: ExpansionLevels? {
        get { read(\.levels, nil) }
        set { write(\.levels, newValue) }
    }

    /// `$index`: the position in an ordered collection at which an entity is inserted; negative values count from the end.
    public var index: Int? {
        get { read(\.index, nil) }
        set { write(\.index, newValue) }
    }

    /// `$format`: `json`, or a media type.
    public var format: String? {
        get { read(\.format, nil) }
        set { write(\.format, newValue) }
    }

    /// `$schemaversion`: the version of the metadata, or `*` for the current one.
    public var schemaVersion: String? {
        get { read(\.schemaVersion, nil) }
        set { write(\.schemaVersion, newValue) }
    }

    /// `$skiptoken`: the service's opaque token for the start of a page.
    public var skipToken: String? {
        get { read(\.skipToken, nil) }
        set { write(\.skipToken, newValue) }
    }

    /// `$deltatoken`: the service's opaque token for the state that changes are relative to.
    public var deltaToken: String? {
        get { read(\.deltaToken, nil) }
        set { write(\.deltaToken, newValue) }
    }

    /// `$id`: the URL of an entity, for ``ResourcePath/Segment/entity``.
    public var entityID: String? {
        get { read(\.entityID, nil) }
        set { write(\.entityID, newValue) }
    }

    /// `$at`, `$from`, `$to`, `$toInclusive`.
    public var temporal: [TemporalBound] {
        get { read(\.temporal, []) }
        set { write(\.temporal, newValue) }
    }

    /// The request's header fields; only for a request as a whole.
    public var headers: HTTPFields {
        get { read(\.headers, HTTPFields()) }
        set { write(\.headers, newValue) }
    }

    /// The parameter aliases and their values.
    public var aliases: [ParameterAlias] {
        get { read(\.aliases, []) }
        set { write(\.aliases, newValue) }
    }
}
