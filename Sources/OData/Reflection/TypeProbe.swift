/// What decoding samples of a type shows: the properties that it decodes, and the one that a key path reads.
///
/// The samples are never changed, and only read through key paths.
struct TypeProbe {
    /// The names that the type decodes, in its order; `nil` if they can't be determined.
    let decodedNames: [String]?
    /// The names of relations among the properties.
    let relations: Set<String>
    /// The reason why ``decodedNames`` is missing.
    let reason: String?
    /// Whether samples could be decoded.
    var hasSamples: Bool { !samples.isEmpty }
    /// Whether the type, or a complex value in it, has relations that the samples leave empty.
    let leftRelationsEmpty: Bool

    private let type: Any.Type
    private let samples: [Any]
    private let passes: [ProbePass]
    private let paths: [[String]]

    /// Decodes samples of a type.
    ///
    /// - Parameter followingRelations: Whether the samples contain related entities. Decoding these costs as much as all types within
    ///   reach have properties, and only a key path through a relation needs it.
    init(_ type: Any.Type, followingRelations: Bool) {
        self.type = type
        let indices = ProbePass.Indices()
        var samples: [Any] = []
        var passes: [ProbePass] = []
        var failure: String?
        if let decodable = type as? any Decodable.Type {
            var bits = 1
            var number = 0
            // The number of bits is known after the first pass.
            while failure == nil, number < 2 + 2 * bits {
                let pass = ProbePass(number: number, bits: bits, indices: indices, followsRelations: followingRelations)
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
        relations = passes.first?.relations ?? []
        leftRelationsEmpty = passes.contains(where: \.leftRelationsEmpty)
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

    /// Returns the names of the properties that lead to what a key path reads.
    ///
    /// - Throws: The reason why they aren't known.
    func names(of keyPath: AnyKeyPath) throws(ProbeRefusal) -> [String] {
        guard hasSamples else { throw ProbeRefusal(reason: reason ?? "no sample could be decoded") }
        let read = samples.map { $0[keyPath: keyPath] }
        guard let first = read.first, let first, let second = read.dropFirst().first, let second else {
            throw ProbeRefusal(reason: "its root type isn't \(type)")
        }
        guard ProbeComparison.differs(first, second) else { throw ProbeRefusal(reason: constantReason) }
        let matches = paths.filter { path in
            zip(read, passes).allSatisfy { value, pass in
                guard let value, let given = pass.values[path] else { return false }
                return given.contains { ProbeComparison.isSame(value, $0) }
            }
        }
        let named = matches.filter { path in !path.contains { $0.hasPrefix(ProbePass.elementStep) } }
        guard let match = named.first else {
            throw ProbeRefusal(reason: matches.isEmpty ? "its value doesn't match any decoded one" : "it reads an element of a collection")
        }
        guard named.count == 1 else {
            let names = named.map { "'" + $0.joined(separator: "/") + "'" }.joined(separator: " and ")
            throw ProbeRefusal(reason: "it is ambiguous: \(names) give it the same value")
        }
        return match
    }

    /// The reason why a property may have the same value in all samples.
    private var constantReason: String {
        let refused = passes.first?.refusals.first.map { "; '\($0.path.joined(separator: "/"))' was left empty: \($0.reason)" }
        return "its value is the same in every decoded sample" + (refused ?? "")
    }
}
