import ODataMetadata

/// A resource's path with what its steps lead to.
struct ResourceWalk {
    var steps: [ResourceStep] = []
    /// The ends of the steps: fewer than steps if the rest can't be verified.
    var points: [ModelPoint] = []

    /// The end of the path, or `nil` if it isn't known.
    var end: ModelPoint? {
        guard points.count == steps.count, let end = points.last, !end.isUnknown else { return nil }
        return end
    }

    /// Whether the path leads to each member of a collection.
    var isOfEach: Bool { if case .each? = steps.last { true } else { false } }
    /// Whether the path leads to a raw value.
    var isOfValue: Bool { if case .value? = steps.last { true } else { false } }
    var hasFilter: Bool { steps.contains { if case .filter = $0 { true } else { false } } }
    var hasCast: Bool { points.contains(where: \.isCast) }

    /// The key of the entity at the end; empty if it isn't known.
    var key: [ResourcePath.KeyPart] {
        for step in steps.reversed() {
            switch step {
            case .key(let parts): return parts ?? []
            case .keySegment(let value): return [ResourcePath.KeyPart(.literal(value))]
            case .qualified: continue
            default: return []
            }
        }
        return []
    }

    /// The last property or navigation property of the path, with the point before and after it; `nil` if the path has none.
    var lastMember: (owner: ModelPoint, name: String, end: ModelPoint)? {
        guard end != nil else { return nil }
        for (index, step) in steps.enumerated().reversed() where index > 0 {
            switch step {
            case .name(let name, _): return (points[index - 1], name, points[index])
            case .key, .keySegment, .value, .other: continue
            default: return nil
            }
        }
        return nil
    }
}

/// One step of a resource's path. Steps can come from text.
enum ResourceStep {
    /// A name, and whether it is from text. A name from text may be a key.
    case name(String, isText: Bool)
    /// A name with a namespace: a type or an operation.
    case qualified(String)
    case operation(String)
    /// A call. The parameters of text aren't known.
    case function(String, [QueryPath.Parameter]?)
    /// A key. The values of text aren't known.
    case key([ResourcePath.KeyPart]?)
    case keySegment(EdmValue)
    case filter(QueryExpression)
    case index
    case count
    case each
    case value
    /// Another step without names: `$ref`, `$query`.
    case other

    /// Returns the steps of a segment; `nil` if it contains no names.
    static func steps(of segment: ResourcePath.Segment) -> [ResourceStep]? {
        switch segment {
        case .raw(let text): steps(of: text)
        case .name(let name): [.name(name, isText: false)]
        case .cast(let name): [.qualified(name)]
        case .operation(let name): [.operation(name)]
        case .function(let name, let parameters): [.function(name, parameters)]
        case .key(let parts): [.key(parts)]
        case .keySegment(let value): [.keySegment(value)]
        case .index: [.index]
        case .filter(let condition): [.filter(condition)]
        case .count: [.count]
        case .each: [.each]
        case .value: [.value]
        case .ref, .query: [.other]
        case .allEntities, .crossjoin, .entity, .metadata, .batch, .invalid: nil
        }
    }

    /// Returns the steps of a path in OData syntax: `People('ada')/Trips`.
    private static func steps(of text: String) -> [ResourceStep]? {
        var steps: [ResourceStep] = []
        for part in parts(of: text) {
            let name = part.prefix { $0 != "(" }
            let hasParentheses = name.endIndex != part.endIndex
            switch name {
            case "$count": steps.append(.count)
            case "$value": steps.append(.value)
            case "$each": steps.append(.each)
            case "$ref", "$query": steps.append(.other)
            case "": return nil
            default:
                guard !name.hasPrefix("$") else { return nil }
                let isQualified = name.contains(".")
                guard hasParentheses else {
                    let isName = ODataName.isQualified(name)
                    // Every other segment is a key.
                    steps.append(!isName ? .key(nil) : isQualified ? .qualified(String(name)) : .name(String(name), isText: true))
                    continue
                }
                let inside = part[name.endIndex...].dropFirst().dropLast()
                if isQualified || inside.isEmpty {
                    steps.append(.function(String(name), inside.isEmpty ? [] : nil))
                } else {
                    steps += [.name(String(name), isText: true), .key(nil)]
                }
            }
        }
        return steps
    }

    /// Splits a path at slashes outside of texts and parentheses.
    private static func parts(of text: String) -> [Substring] {
        var parts: [Substring] = []
        var start = text.startIndex
        var depth = 0
        var isQuoted = false
        for index in text.utf8.indices {
            switch text.utf8[index] {
            case UInt8(ascii: "'"): isQuoted.toggle()
            case UInt8(ascii: "(") where !isQuoted: depth += 1
            case UInt8(ascii: ")") where !isQuoted: depth -= 1
            case UInt8(ascii: "/") where !isQuoted && depth <= 0:
                parts.append(text[start..<index])
                start = text.utf8.index(after: index)
            default: continue
            }
        }
        parts.append(text[start...])
        return parts.filter { !$0.isEmpty }
    }
}
