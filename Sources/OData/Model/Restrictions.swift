import ODataMetadata

/// The restrictions of a service on the entities at a place, by annotations of the Capabilities vocabulary and SAP's attributes.
///
/// The place is an entity set or a singleton, or the end of navigation properties that begin there. The nearest annotation counts. The
/// order is: an annotation applied to the path, an entry of `NavigationRestrictions`, an annotation of the navigation property, an
/// annotation of the entity set that the path leads to, and an annotation of the container. `DefaultCapabilities` of the container
/// completes the annotation that was found.
struct Restrictions {
    /// An annotation that was found.
    struct Found {
        let value: ServiceModel.Expression?
        /// The annotation and its place: `Capabilities.SortRestrictions of Orders`.
        let name: String

        /// The paths of a collection in the annotation's record, without casts.
        func paths(_ property: String) -> [String] { (value?[property]?.elements ?? []).compactMap(\.text).map(Restrictions.withoutCasts) }

        /// Returns whether a collection in the annotation's record contains a path. A path with casts concerns only the types that it
        /// names, and a path without casts concerns all types.
        func lists(_ path: String, in property: String) -> Bool {
            let plain = Restrictions.withoutCasts(path)
            return (value?[property]?.elements ?? []).contains { $0.text == path || $0.text == plain }
        }

        /// Returns whether a collection in the annotation's record contains a path.
        func lists(_ path: [PathStep], in property: String, _ model: ServiceModel) -> Bool {
            (value?[property]?.elements ?? []).contains { $0.text.map { path.match($0, in: model) } ?? false }
        }

        /// Whether the annotation, or a Boolean of its record, is `false`.
        func isFalse(_ property: String? = nil) -> Bool {
            (property.map { value?[$0] } ?? value)?.boolValue == false
        }
    }

    private enum Root {
        case set(ServiceModel.EntitySet)
        case singleton(ServiceModel.Singleton)

        var target: String {
            switch self {
            case .set(let set): set.target
            case .singleton(let singleton): singleton.target
            }
        }

        var bindings: [ServiceModel.NavigationPropertyBinding] {
            switch self {
            case .set(let set): set.bindings
            case .singleton(let singleton): singleton.bindings
            }
        }
    }

    let model: ServiceModel
    private let root: Root?
    /// The path of navigation properties from the root; empty for the root itself.
    private(set) var steps: [PathStep] = []
    private(set) var navigation: ServiceModel.NavigationProperty?
    /// The number of navigation properties in the path.
    private(set) var levelCount = 0
    /// The binding of the last navigation property, if the model has one.
    private(set) var binding: ServiceModel.NavigationPropertyBinding?
    /// The entity set that the path leads to.
    private(set) var set: ServiceModel.EntitySet?

    /// Creates the restrictions of a place without any.
    init(_ model: ServiceModel) {
        self.model = model
        root = nil
    }

    init(_ model: ServiceModel, of set: ServiceModel.EntitySet) {
        self.model = model
        root = .set(set)
        self.set = set
    }

    init(_ model: ServiceModel, of singleton: ServiceModel.Singleton) {
        self.model = model
        root = .singleton(singleton)
    }

    /// Returns the restrictions at the end of a navigation property.
    ///
    /// - Parameter last: The complex properties on the way from the last entity, and the navigation property.
    func following(_ property: ServiceModel.NavigationProperty, steps last: [PathStep]) -> Restrictions {
        var next = self
        next.steps = steps + last
        next.navigation = property
        next.levelCount += 1
        // A binding begins at the set that the path has led to, or at its root if entities are contained in others.
        let ofSet = steps.isEmpty ? nil : set.flatMap { binding(of: last, in: $0.bindings) }
        next.binding = ofSet ?? root.flatMap { binding(of: next.steps, in: $0.bindings) }
        next.set = next.binding.flatMap { binding in
            model.entitySet(binding.target.split(separator: "/").last.map(String.init) ?? binding.target)
        }
        return next
    }

    private func binding(
        of steps: [PathStep], in bindings: [ServiceModel.NavigationPropertyBinding]
    ) -> ServiceModel.NavigationPropertyBinding? {
        // The longest path has the most casts.
        bindings.filter { steps.match($0.path, in: model) }.max { $0.path.utf8.count < $1.path.utf8.count }
    }

    /// The restrictions at the beginning of the path.
    var atRoot: Restrictions? { root.map { Restrictions($0, model) } }

    private var rootName: String? {
        switch root {
        case .set(let set): set.name
        case .singleton(let singleton): singleton.name
        case nil: nil
        }
    }

    /// The place's name in texts.
    var name: String { steps.isEmpty ? rootName ?? "the service" : (rootName.map { $0 + "/" } ?? "") + steps.path }

    // MARK: Annotations

    private static let vocabulary = "Org.OData.Capabilities.V1."

    /// The terms that apply to all resources if a container is annotated with them.
    private static let containerTerms: Set = ["FilterFunctions", "SelectSupport"]

    /// Returns the nearest annotation with a term of the Capabilities vocabulary.
    func annotation(_ term: String) -> Found? {
        let found = nearest(term) ?? (Self.containerTerms.contains(term) ? containerAnnotation(term) : nil)
        guard let shared = sharedAnnotation(term) else { return found }
        return found.map { $0.completed(by: shared) } ?? shared
    }

    /// The entry of the container's `DefaultCapabilities`, which apply to all resources that are collections.
    private func sharedAnnotation(_ term: String) -> Found? {
        switch root {
        case nil: return nil
        case .singleton where steps.isEmpty: return nil
        case .set, .singleton: break
        }
        guard let all = containerAnnotation("DefaultCapabilities"), let value = all.value?[term] else { return nil }
        return Found(value: value, name: all.name)
    }

    private func nearest(_ term: String) -> Found? {
        let full = Self.vocabulary + term
        func first(_ annotations: [ServiceModel.Annotation], _ place: String) -> Found? {
            annotations.first { $0.term == full && $0.qualifier == nil }.map {
                Found(value: $0.value, name: "Capabilities.\(term) of \(place)")
            }
        }
        func ofSet(_ set: ServiceModel.EntitySet) -> Found? { first(model.annotations(of: set), set.name) }
        guard !steps.isEmpty else {
            switch root {
            case .set(let set): return ofSet(set)
            case .singleton(let singleton): return first(model.annotations(of: singleton), singleton.name)
            case nil: return nil
            }
        }
        if let root {
            for path in steps.targets {
                if let found = first(model.annotations(atTarget: root.target + "/" + path), name) { return found }
            }
        }
        if let found = navigationRestriction(term) { return found }
        if let navigation, let found = first(model.annotations(of: navigation), navigation.target) { return found }
        return set.flatMap { ofSet($0) }
    }

    /// The entry of the root's `NavigationRestrictions` for the path.
    private func navigationRestriction(_ term: String) -> Found? {
        guard let root = atRoot, let all = root.annotation("NavigationRestrictions") else { return nil }
        var found: (path: String, value: ServiceModel.Expression)?
        for entry in all.value?["RestrictedProperties"]?.elements ?? [] {
            guard let value = entry[term], let path = entry["NavigationProperty"]?.text, steps.match(path, in: model) else { continue }
            // An entry for a derived type takes precedence over one for all types.
            if path.utf8.count > found?.path.utf8.count ?? 0 { found = (path, value) }
        }
        return found.map { Found(value: $0.value, name: "Capabilities.NavigationRestrictions of \(root.name) for \($0.path)") }
    }

    private init(_ root: Root, _ model: ServiceModel) {
        switch root {
        case .set(let set): self.init(model, of: set)
        case .singleton(let singleton): self.init(model, of: singleton)
        }
    }

    /// Returns an annotation of the container, for terms that apply to all of its resources.
    func containerAnnotation(_ term: String) -> Found? {
        guard let container = model.container else { return nil }
        return model.annotation(Self.vocabulary + term, of: container)
            .map { Found(value: $0.value, name: "Capabilities.\(term) of \(container.name)") }
    }

    /// Returns whether an attribute of SAP's is `false` for the entity set of the place.
    func sapExcludes(_ attribute: String) -> Bool { set?.extensions[attribute, in: ServiceModel.Extensions.sap] == "false" }

    /// Returns whether an attribute of SAP's is `true` for the entity set of the place.
    func sapRequires(_ attribute: String) -> Bool { set?.extensions[attribute, in: ServiceModel.Extensions.sap] == "true" }

    // MARK: Properties

    /// Returns the name of the annotation or attribute that excludes a property from filters, as part of a sentence, or `nil`.
    func filterExclusion(of path: String, _ property: (any ServiceModel.Element)?) -> String? {
        if let found = annotation("FilterRestrictions"), found.lists(path, in: "NonFilterableProperties") { return found.name }
        return Self.sapExclusion("filterable", of: property)
    }

    /// Returns the name of the annotation or attribute that excludes a property from sorting, as part of a sentence, or `nil`.
    func sortExclusion(of path: String, _ property: (any ServiceModel.Element)?) -> String? {
        if let found = annotation("SortRestrictions"), found.lists(path, in: "NonSortableProperties") { return found.name }
        return Self.sapExclusion("sortable", of: property)
    }

    /// Returns the name of the annotation that excludes the elements of a property or navigation property from counts, as part of a
    /// sentence, or `nil`.
    func countExclusion(of path: String) -> String? {
        guard let found = annotation("CountRestrictions") else { return nil }
        let lists = ["NonCountableProperties", "NonCountableNavigationProperties"]
        return lists.contains { found.lists(path, in: $0) } ? found.name : nil
    }

    /// The name of the annotation or attribute that excludes counts of the entities here, as part of a sentence, or `nil`.
    var countExclusion: String? {
        if let found = annotation("CountRestrictions"), found.isFalse("Countable") { return found.name }
        if sapExcludes("countable") { return "sap:countable of \(name)" }
        return steps.isEmpty ? nil : atRoot?.countExclusion(of: steps.path)
    }

    /// Returns a path without the names of types in it, which contain dots.
    static func withoutCasts(_ path: String) -> String {
        path.utf8.contains(UInt8(ascii: ".")) ? path.split(separator: "/").filter { !$0.contains(".") }.joined(separator: "/") : path
    }

    /// Returns the name of the annotation that excludes a navigation property from expansion, as part of a sentence, or `nil`.
    func expandExclusion(of path: String) -> String? {
        guard let found = annotation("ExpandRestrictions"), found.lists(path, in: "NonExpandableProperties") else { return nil }
        return found.name
    }

    private static func sapExclusion(_ attribute: String, of property: (any ServiceModel.Element)?) -> String? {
        guard let property, property.extensions[attribute, in: ServiceModel.Extensions.sap] == "false" else { return nil }
        return "sap:\(attribute) of \(property.target)"
    }

    /// The properties that a filter must contain, with the name of the annotation or attribute that requires them.
    func requiredFilterProperties(of type: ServiceModel.StructuredType?) -> [(path: String, name: String)] {
        var required: [(String, String)] = []
        if let found = annotation("FilterRestrictions") { required += found.paths("RequiredProperties").map { ($0, found.name) } }
        for property in type.map({ model.properties(of: $0) }) ?? []
        where property.extensions["required-in-filter", in: ServiceModel.Extensions.sap] == "true" {
            required.append((property.name, "sap:required-in-filter of \(property.target)"))
        }
        return required
    }

    /// Returns the name of the annotation or attribute that requires a filter, or `nil`.
    var filterRequirement: String? {
        if let found = annotation("FilterRestrictions"), found.value?["RequiresFilter"]?.boolValue == true { return found.name }
        return sapRequires("requires-filter") ? "sap:requires-filter of \(name)" : nil
    }
}

extension Restrictions.Found {
    /// Returns the annotation with the values of another one's record that its own record doesn't have.
    fileprivate func completed(by other: Restrictions.Found) -> Restrictions.Found {
        guard var record = value?.recordValue else { return self }
        let names = Set(record.values.map(\.name))
        let more = (other.value?.recordValue?.values ?? []).filter { !names.contains($0.name) }
        if more.isEmpty { return self }
        record.values += more
        return Restrictions.Found(value: .record(record), name: "\(name) and \(other.name)")
    }
}
