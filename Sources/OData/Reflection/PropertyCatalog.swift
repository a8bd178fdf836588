import WebServiceClient

/// What is known of a type's properties: which it decodes, in which order, and the wire name behind a key path.
///
/// Made once per type by decoding samples, and kept.
///
/// `@unchecked Sendable`: the samples are made in `init`, never changed, and only read through key paths; entity types are `Sendable`
/// themselves. The memo is locked.
final class PropertyCatalog: @unchecked Sendable {
    let type: Any.Type
    /// The names the type decodes, in its order; `nil` where that isn't known for sure.
    let decodedNames: [String]?
    /// Why ``decodedNames`` is missing.
    let reason: String?

    private let samples: [Any]
    private let passes: [ProbePass]
    private let paths: [[String]]
    private let memo = Locked<[AnyKeyPath: [QueryPath.Segment]]>([:])

    private static let catalogs = Locked<[ObjectIdentifier: PropertyCatalog]>([:])

    static func of(_ type: Any.Type) -> PropertyCatalog {
        let key = ObjectIdentifier(type)
        if let known = catalogs.withLock({ $0[key] }) { return known }
        // Decoding runs the type's own code, so it happens outside of the lock; two of the same kind do no harm.
        let made = PropertyCatalog(type)
        catalogs.withLock { $0[key] = made }
        return made
    }

    /// The steps of a key path by wire names.
    static func segments(of keyPath: AnyKeyPath, in type: Any.Type) -> [QueryPath.Segment] {
        of(type).segments(of: keyPath)
    }

    private init(_ type: Any.Type) {
        self.type = type
        let indices = ProbePass.Indices()
        var samples: [Any] = []
        var passes: [ProbePass] = []
        var failure: String?
        if let decodable = type as? any Decodable.Type {
            var bits = 1
            var number = 0
            // The bits are known after the first pass.
            while failure == nil, number < 2 + 2 * bits {
                let pass = ProbePass(number: number, bits: bits, indices: indices)
                do {
                    samples.append(try pass.value(decodable, at: []))
                } catch {
                    failure = "decoding a sample of it failed: \(ProbePass.reason(error))"
                }
                passes.append(pass)
                if number == 0 { bits = indices.bits }
                number += 1
            }
        } else {
            failure = "\(type) isn't Decodable"
        }
        self.samples = failure == nil ? samples : []
        self.passes = passes
        paths = indices.paths.filter { !$0.isEmpty }.sorted { $0.count < $1.count }
        (decodedNames, reason) = Self.decoded(by: passes, failure: failure)
    }

    private static func decoded(by passes: [ProbePass], failure: String?) -> ([String]?, String?) {
        guard failure == nil, let first = passes.first else { return (nil, failure ?? "nothing was decoded") }
        guard !passes.contains(where: \.readsAllNames) else { return (nil, "it decodes whatever properties there are") }
        guard passes.allSatisfy({ $0.topNames == first.topNames }) else {
            return (nil, "what it decodes depends on the values")
        }
        // Control information such as `@odata.etag` comes without being selected.
        let names = first.topNames.filter { !$0.contains("@") }
        guard names.allSatisfy(ODataName.isProperty) else { return (nil, "not all names it decodes are names of OData properties") }
        return names.isEmpty ? (nil, "it decodes no property by name") : (names, nil)
    }

    func segments(of keyPath: AnyKeyPath) -> [QueryPath.Segment] {
        if let known = memo.withLock({ $0[keyPath] }) { return known }
        let found = find(keyPath)
        memo.withLock { $0[keyPath] = found }
        return found
    }

    private func find(_ keyPath: AnyKeyPath) -> [QueryPath.Segment] {
        if let naming = type as? any PropertyNaming.Type, let name = Self.ownName(of: keyPath, in: naming) {
            return QueryPath.segments(of: name)
        }
        func unknown(_ reason: String) -> [QueryPath.Segment] {
            [.unresolved(.unknownProperty("\(keyPath)", type: "\(type)", reason: reason))]
        }
        guard !samples.isEmpty else { return unknown(reason ?? "no sample could be decoded") }
        let read = samples.map { $0[keyPath: keyPath] }
        guard let first = read.first, let first, let second = read.dropFirst().first, let second else {
            return unknown("it doesn't begin at \(type)")
        }
        guard ProbeComparison.differs(first, second) else { return unknown(constantReason) }
        let matches = paths.filter { path in
            zip(read, passes).allSatisfy { value, pass in
                guard let value, let given = pass.values[path] else { return false }
                return given.contains { ProbeComparison.isSame(value, $0) }
            }
        }
        let named = matches.filter { path in !path.contains { $0.hasPrefix(ProbePass.elementStep) } }
        guard let match = named.first else {
            return unknown(matches.isEmpty ? "its value is none of those decoded" : "it reads an element of a collection")
        }
        guard named.count == 1 else {
            let names = named.map { "'" + $0.joined(separator: "/") + "'" }.joined(separator: " and ")
            return unknown("it can't be told apart: \(names) give it the same value")
        }
        return match.map { .property($0) }
    }

    /// Why a property may have the same value in all samples.
    private var constantReason: String {
        let refused = passes.first?.refusals.first.map { "; '\($0.path.joined(separator: "/"))' was left empty: \($0.reason)" }
        return "its value is the same in every decoded sample" + (refused ?? "")
    }

    private static func ownName<Type: PropertyNaming>(of keyPath: AnyKeyPath, in _: Type.Type) -> String? {
        guard let keyPath = keyPath as? PartialKeyPath<Type> else { return nil }
        return Type.propertyNames[keyPath]
    }
}

/// There is one catalog for a type, or several that are the same.
extension PropertyCatalog: Hashable {
    static func == (left: PropertyCatalog, right: PropertyCatalog) -> Bool {
        left.type == right.type
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(type))
    }
}

/// A type that says the wire names of its properties itself, where decoding a sample can't find them.
///
///     extension Product: PropertyNaming {
///         static var propertyNames: [PartialKeyPath<Product>: String] { [\.kind: "Kind", \.price: "UnitPrice"] }
///     }
///
/// A computed property, as key paths in a stored one would have to be `Sendable`. What isn't listed is still looked for by decoding
/// a sample.
public protocol PropertyNaming {
    /// Wire names by key path; `/` separates the steps to a property of a complex property.
    static var propertyNames: [PartialKeyPath<Self>: String] { get }
}

/// A type that supplies values for the samples which wire names are found with, since it would refuse to decode made-up ones.
///
/// A string-backed type that accepts only certain texts would do this, for example.
public protocol PropertySample {
    /// A value that differs for each number, or at least for 0 and 1; `nil` where there is none.
    static func propertySample(_ number: Int) -> Self?
}
