import WebServiceClient

/// The properties of a type: which ones it decodes, in which order, and the wire names of its key paths.
///
/// Created once per type, and cached. The type states its properties as ``PropertyNaming``; what it doesn't state is determined by decoding
/// samples when it is first needed.
///
/// `@unchecked Sendable` because the samples are never changed and only read through key paths; entity types are `Sendable`. Locks protect
/// what is determined later.
final class PropertyCatalog: @unchecked Sendable {
    /// The properties that a type decodes.
    struct Decoded: Sendable {
        /// The names, in the type's order; `nil` if they can't be determined.
        let names: [String]?
        /// The same names, to look for one.
        let set: Set<String>
        /// The names of relations among them.
        let relations: Set<String>
        /// The reason why the names are missing.
        let reason: String?
    }

    let type: Any.Type
    /// The properties that the type states.
    let stated: DecodedProperties
    let selection: DefaultSelection

    private let known = Locked<Decoded?>(nil)
    /// Samples without related entities, and with them.
    private let probes = Locked<(plain: TypeProbe?, deep: TypeProbe?)>((nil, nil))
    private let memo = Locked<[AnyKeyPath: [QueryPath.Segment]]>([:])

    private static let catalogs = Locked<[ObjectIdentifier: PropertyCatalog]>([:])

    static func of(_ type: Any.Type) -> PropertyCatalog {
        let key = ObjectIdentifier(type)
        if let known = catalogs.withLock({ $0[key] }) { return known }
        let made = PropertyCatalog(type)
        return catalogs.withLock { catalogs in
            // Another task may have been faster, and samples are decoded once per catalog.
            if let known = catalogs[key] { return known }
            catalogs[key] = made
            return made
        }
    }

    /// Returns the segments of a key path by wire names.
    static func segments(of keyPath: AnyKeyPath, in type: Any.Type) -> [QueryPath.Segment] {
        if let described = type as? any DescribedEntity.Type { return described.segments(of: keyPath) }
        return of(type).segments(of: keyPath)
    }

    private init(_ type: Any.Type) {
        self.type = type
        if type is any DescribedEntity.Type {
            stated = .all
            selection = .none
            return
        }
        let naming = type as? any PropertyNaming.Type
        stated = naming?.decodedProperties ?? .sampled
        selection = naming?.defaultSelection ?? .decoded
    }

    /// The properties that the type decodes.
    var decoded: Decoded {
        if let known = known.withLock({ $0 }) { return known }
        let made: Decoded
        switch stated {
        case .names(let names, let relations):
            made = Decoded(names: names, set: Set(names), relations: relations, reason: nil)
        case .all:
            made = Decoded(names: nil, set: [], relations: [], reason: "it decodes arbitrary properties")
        case .sampled:
            let probe = probe
            let names = probe.decodedNames
            made = Decoded(names: names, set: Set(names ?? []), relations: probe.relations, reason: probe.reason)
        }
        known.withLock { $0 = made }
        return made
    }

    /// The names that the type decodes, in its order; `nil` if they can't be determined.
    var decodedNames: [String]? { decoded.names }

    /// The names that a request selects by default; `nil` for none.
    func selectedNames(_ version: ODataVersion) -> [String]? {
        switch selection {
        case .none: nil
        case .names(let names): names
        case .decoded:
            // In version 2, a service sends the links of relations only if they are selected.
            if version == .v2 || decoded.relations.isEmpty {
                decodedNames
            } else {
                decodedNames?.filter { !decoded.relations.contains($0) }
            }
        }
    }

    /// The reason why a request selects nothing by default, unless the type itself determines that.
    var selectionReason: String? {
        guard selection == .decoded, stated == .sampled else { return nil }
        return decoded.reason
    }

    // MARK: Samples

    /// Samples without related entities or, if the type doesn't decode without them, with them.
    private var probe: TypeProbe {
        if let known = probes.withLock({ $0.plain }) { return known }
        // Decoding runs the type's code, so it happens outside of the lock; duplicate samples are harmless.
        var made = TypeProbe(type, followingRelations: false)
        if !made.hasSamples, made.leftRelationsEmpty { made = deepProbe }
        probes.withLock { [made] in $0.plain = made }
        return made
    }

    /// Samples with related entities.
    private var deepProbe: TypeProbe {
        if let known = probes.withLock({ $0.deep }) { return known }
        let made = TypeProbe(type, followingRelations: true)
        probes.withLock { $0.deep = made }
        return made
    }

    // MARK: Key paths

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
        guard stated != .all else {
            return [.unresolved(.unknownProperty("\(keyPath)", type: "\(type)", reason: "the type states no name for it"))]
        }
        do throws(ProbeRefusal) {
            let probe = probe
            do throws(ProbeRefusal) {
                return try probe.names(of: keyPath).map { .property($0) }
            } catch {
                // The key path may lead through a relation.
                guard probe.leftRelationsEmpty else { throw error }
                return try deepProbe.names(of: keyPath).map { .property($0) }
            }
        } catch {
            if type is any EdmConvertible.Type || type is any ODataCollection.Type {
                // In the service, primitive values and collections have no properties: no name would help.
                let remedy = "a query can use only what QueryTerm declares: write the condition with it, or as text with raw"
                return [
                    .unresolved(
                        .invalidOption(
                            "that uses \(keyPath)", reason: "the service doesn't know this member of the Swift type; \(remedy)"))
                ]
            }
            return [.unresolved(.unknownProperty("\(keyPath)", type: "\(type)", reason: error.reason))]
        }
    }

    private static func ownName<Type: PropertyNaming>(of keyPath: AnyKeyPath, in _: Type.Type) -> String? {
        guard let keyPath = keyPath as? PartialKeyPath<Type> else { return nil }
        return Type.propertyNames[keyPath]
    }
}

/// Catalogs are equal if they belong to the same type.
extension PropertyCatalog: Hashable {
    static func == (left: PropertyCatalog, right: PropertyCatalog) -> Bool {
        left.type == right.type
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(type))
    }
}

/// An entity type or a complex type whose properties a model describes, so that no sample needs to be decoded. Requests of its values
/// select nothing by themselves.
protocol DescribedEntity {
    /// A Boolean value that indicates whether the model has the type, so that the type's properties are known.
    static var isInModel: Bool { get }
    /// Returns whether the model declares a property.
    static func declares(_ name: String) -> Bool
    /// Returns the segments of a key path by wire names.
    static func segments(of keyPath: AnyKeyPath) -> [QueryPath.Segment]
}
