import WebServiceClient

/// The properties of a type: which ones it decodes, in which order, and the wire names of its key paths.
///
/// Created once per type by decoding samples, and cached.
///
/// `@unchecked Sendable` because the samples are created in `init`, never changed, and only read through key paths; entity types are
/// `Sendable`. A lock protects the cache.
final class PropertyCatalog: @unchecked Sendable {
    let type: Any.Type
    /// The names that the type decodes, in its order; `nil` if they can't be determined.
    let decodedNames: [String]?
    /// The reason why ``decodedNames`` is missing.
    let reason: String?

    private let samples: [Any]
    private let passes: [ProbePass]
    private let paths: [[String]]
    private let memo = Locked<[AnyKeyPath: [QueryPath.Segment]]>([:])

    private static let catalogs = Locked<[ObjectIdentifier: PropertyCatalog]>([:])

    static func of(_ type: Any.Type) -> PropertyCatalog {
        let key = ObjectIdentifier(type)
        if let known = catalogs.withLock({ $0[key] }) { return known }
        // Decoding runs the type's code, so it happens outside of the lock; a duplicate catalog is harmless.
        let made = PropertyCatalog(type)
        catalogs.withLock { $0[key] = made }
        return made
    }

    /// Returns the segments of a key path by wire names.
    static func segments(of keyPath: AnyKeyPath, in type: Any.Type) -> [QueryPath.Segment] {
        if let described = type as? any DescribedEntity.Type { return described.segments(of: keyPath) }
        return of(type).segments(of: keyPath)
    }

    private init(_ type: Any.Type) {
        self.type = type
        if type is any DescribedEntity.Type {
            (samples, passes, paths) = ([], [], [])
            (decodedNames, reason) = (nil, "its model describes them, and all are requested")
            return
        }
        let indices = ProbePass.Indices()
        var samples: [Any] = []
        var passes: [ProbePass] = []
        var failure: String?
        if let decodable = type as? any Decodable.Type {
            var bits = 1
            var number = 0
            // The number of bits is known after the first pass.
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
        guard !passes.contains(where: \.readsAllNames) else { return (nil, "it decodes arbitrary properties") }
        guard passes.allSatisfy({ $0.topNames == first.topNames }) else {
            return (nil, "the properties it decodes depend on the values")
        }
        // Services return control information such as `@odata.etag` without selection.
        let names = first.topNames.filter { !$0.contains("@") }
        guard names.allSatisfy(ODataName.isProperty) else { return (nil, "some names it decodes aren't valid OData property names") }
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
            return unknown("its root type isn't \(type)")
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
            return unknown(matches.isEmpty ? "its value doesn't match any decoded one" : "it reads an element of a collection")
        }
        guard named.count == 1 else {
            let names = named.map { "'" + $0.joined(separator: "/") + "'" }.joined(separator: " and ")
            return unknown("it is ambiguous: \(names) give it the same value")
        }
        return match.map { .property($0) }
    }

    /// The reason why a property may have the same value in all samples.
    private var constantReason: String {
        let refused = passes.first?.refusals.first.map { "; '\($0.path.joined(separator: "/"))' was left empty: \($0.reason)" }
        return "its value is the same in every decoded sample" + (refused ?? "")
    }

    private static func ownName<Type: PropertyNaming>(of keyPath: AnyKeyPath, in _: Type.Type) -> String? {
        guard let keyPath = keyPath as? PartialKeyPath<Type> else { return nil }
        return Type.propertyNames[keyPath]
    }
}

/// Catalogs are equal if they belong to the same type; a type may have several identical ones.
extension PropertyCatalog: Hashable {
    static func == (left: PropertyCatalog, right: PropertyCatalog) -> Bool {
        left.type == right.type
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(type))
    }
}

/// A type that provides the wire names of its properties, for those that can't be determined by decoding a sample.
///
///     extension Product: PropertyNaming {
///         static var propertyNames: [PartialKeyPath<Product>: String] { [\.kind: "Kind", \.price: "UnitPrice"] }
///     }
///
/// `propertyNames` is a computed property because the key paths of a stored one would have to be `Sendable`. The names of other properties
/// are still determined by decoding a sample.
public protocol PropertyNaming {
    /// The wire names by key path; `/` separates the steps to a property of a complex property.
    static var propertyNames: [PartialKeyPath<Self>: String] { get }
}

/// An entity type or a complex type whose properties a model describes, so that no sample needs to be decoded. Requests of its values
/// select nothing by themselves.
protocol DescribedEntity {
    /// Returns whether the model declares a property.
    static func declares(_ name: String) -> Bool
    /// Returns the segments of a key path by wire names.
    static func segments(of keyPath: AnyKeyPath) -> [QueryPath.Segment]
}
