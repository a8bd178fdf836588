import Foundation
import ODataMetadata
import WebServiceClient

/// Compares a change with the model of a service: the path of its resource, what the service allows there, and the body.
struct WriteVerifier {
    let operation: WriteOperation
    let format: PayloadFormat
    /// The service root, with a slash at its end: the beginning of links to entities.
    let root: String?
    /// Verifies paths, and collects the differences.
    var base: RequestVerifier

    var model: ServiceModel { base.model }
    /// The resource in texts: `People(…)/Orders`.
    var place: String { operation.query.resource.route }

    static func faults(in operation: WriteOperation, of client: ODataClient, _ model: ServiceModel) -> [ModelFault] {
        let root = (try? client.rootURL(ODataOperation(operation.query)))?.absoluteString
        var verifier = WriteVerifier(
            operation: operation, format: client.payloadFormat, root: root.map { String($0.prefix { $0 != "?" }) },
            base: RequestVerifier(model))
        verifier.verify()
        var seen: Set<ModelFault> = []
        return verifier.base.faults.filter { seen.insert($0).inserted }
    }

    private mutating func verify() {
        // The path of a link is the service's own, so its names aren't faults.
        let walk = operation.link.map { resource(at: $0.url.absoluteString) } ?? base.walk(operation.query.resource)
        if operation.kind == .action { return verifyAction(walk) }
        guard let end = walk.end else { return verifyUnplacedBody() }
        base.verify(operation.query.options, at: end.element, place: "")
        switch operation.kind {
        case .creation: verifyCreation(end)
        case .update, .replacement, .upsert: verifyUpdate(end, walk)
        case .deletion: verifyDeletion(end, walk)
        case .delta: verifyDelta(end)
        case .value: verifyValue(walk)
        case .reference: verifyReference(walk)
        case .action: return
        }
    }

    /// Returns what a URL leads to, without reporting names that the model doesn't have.
    func resource(at url: String) -> ResourceWalk {
        guard let root, url.hasPrefix(root) else { return ResourceWalk() }
        var silent = RequestVerifier(model)
        return silent.walk(ResourcePath(String(url.dropFirst(root.count).prefix { $0 != "?" && $0 != "#" })))
    }

    /// Verifies a body whose place isn't known, by the type that it states.
    private mutating func verifyUnplacedBody() {
        guard case .object(let object)? = operation.body, let name = ItemControl.typeName(of: object),
            let type = model.structuredType(name)
        else { return }
        switch operation.kind {
        case .creation, .update, .replacement, .upsert: verifyBody(object, BodyPart.Use(operation.kind), type, Restrictions(model))
        case .deletion, .delta, .value, .reference, .action: return
        }
    }

    // MARK: Entities

    private mutating func verifyCreation(_ end: ModelPoint) {
        guard end.isCollection else {
            return base.report(
                .misplaced, at: place, place, "\(end.typeName) isn't a collection, so that no entity can be created in it",
                fix: "create the entity in the collection, without a key")
        }
        let restrictions = end.restrictions
        let what = "creating entities"
        let fix = "create the entities elsewhere, or by an action of the service"
        if let found = restrictions.annotation("InsertRestrictions") {
            if found.isFalse("Insertable") { exclude(what, by: found.name, fix: fix) }
            if end.isCast, found.isFalse("TypecastSegmentSupported") {
                exclude(
                    "\(what) behind a cast", by: "\(found.name) (TypecastSegmentSupported)",
                    fix: "state the type in the entity: @odata.type")
            }
            verifyQueryOptions(found)
        }
        verifyLevels("InsertRestrictions", restrictions, what)
        if restrictions.sapExcludes("creatable") { exclude(what, by: "sap:creatable of \(restrictions.name)", fix: fix) }
        if let navigation = restrictions.navigation, navigation.sapExcludes("creatable") {
            exclude(what, by: "sap:creatable of \(navigation.target)", fix: fix)
        }
        verifyPermissions(restrictions, what, fix: fix)
        guard case .object(let object)? = operation.body, let type = end.structuredType else { return }
        verifyBody(object, .creation, type, restrictions)
    }

    private mutating func verifyUpdate(_ end: ModelPoint, _ walk: ResourceWalk) {
        guard !end.isCollection || walk.isOfEach else {
            return base.report(
                .misplaced, at: place, place, "\(end.typeName) is a collection", fix: "choose one of its members by key")
        }
        let restrictions = end.restrictions
        let what = "updates"
        verifyChanging(end, walk, "UpdateRestrictions", "Updatable", "updatable", what)
        if let found = restrictions.annotation("UpdateRestrictions") {
            let mayCreate = operation.kind == .upsert && !hasVersion
            if mayCreate, found.isFalse("Upsertable") {
                exclude(
                    "creating entities by updates", by: "\(found.name) (Upsertable)",
                    fix: "create the entity in its collection, or update it if it exists: if: .exists")
            }
            verifyMethod(found)
            verifyQueryOptions(found)
        }
        if operation.kind != .upsert { verifyVersion(end, what) }
        guard case .object(let object)? = operation.body, let type = end.structuredType else { return }
        verifyBody(
            object, BodyPart.Use(operation.kind), type, restrictions, steps: end.steps, key: type.kind == .entity ? walk.key : [])
    }

    private mutating func verifyDeletion(_ end: ModelPoint, _ walk: ResourceWalk) {
        guard end.isResource else { return }
        guard !end.isCollection || walk.isOfEach else {
            return base.report(
                .misplaced, at: place, place, "\(end.typeName) is a collection", fix: "choose one of its members by key")
        }
        let what = "deleting entities"
        verifyChanging(end, walk, "DeleteRestrictions", "Deletable", "deletable", what)
        verifyVersion(end, what)
    }

    /// Verifies what concerns updates and deletions alike.
    private mutating func verifyChanging(
        _ end: ModelPoint, _ walk: ResourceWalk, _ term: String, _ flag: String, _ attribute: String, _ what: String
    ) {
        let restrictions = end.restrictions
        let fix = "leave the entities as they are, or look for an action of the service"
        if let found = restrictions.annotation(term) {
            if found.isFalse(flag) { exclude(what, by: found.name, fix: fix) }
            if walk.isOfEach {
                for (name, isUsed) in [("FilterSegmentSupported", walk.hasFilter), ("TypecastSegmentSupported", walk.hasCast)]
                where isUsed && found.isFalse(name) {
                    exclude("\(what) of several entities by such a path", by: "\(found.name) (\(name))", fix: "change them one by one")
                }
            }
        }
        verifyLevels(term, restrictions, what)
        if restrictions.sapExcludes(attribute) { exclude(what, by: "sap:\(attribute) of \(restrictions.name)", fix: fix) }
        verifyPermissions(restrictions, what, fix: fix)
    }

    private mutating func verifyDelta(_ end: ModelPoint) {
        guard end.isCollection else {
            return base.report(
                .misplaced, at: place, place, "\(end.typeName) isn't a collection", fix: "update the entity by update(_:with:)")
        }
        let restrictions = end.restrictions
        if let found = restrictions.annotation("UpdateRestrictions"), found.isFalse("DeltaUpdateSupported") {
            exclude("changes of several entities in one request", by: "\(found.name) (DeltaUpdateSupported)", fix: "send them in a batch")
        }
        guard let type = end.structuredType else { return }
        for entry in operation.body?["value"]?.array ?? [] {
            guard case .object(let object) = entry else { continue }
            // Entries of links have other properties.
            if let context = object["@context"]?.string, context.hasSuffix("/$link") || context.hasSuffix("/$deletedLink") { continue }
            guard object["@removed"] == nil else {
                let found = restrictions.annotation("DeleteRestrictions")
                if let found, found.isFalse("Deletable"), object["@removed"]?["reason"]?.string == "deleted" {
                    exclude("deleting entities", by: found.name, fix: "leave the entities as they are")
                }
                continue
            }
            verifyBody(object, .whole, type, restrictions)
        }
    }

    // MARK: Properties, streams and relations

    private mutating func verifyValue(_ walk: ResourceWalk) {
        guard let (owner, name, end) = walk.lastMember else {
            // The media of an entity.
            guard let type = walk.end?.structuredType, type.kind == .entity, walk.isOfValue, !model.hasStream(type) else { return }
            return base.report(
                .misplaced, at: place, place, "\(type.qualifiedName) has no media (HasStream)",
                fix: "write a property, or a stream property")
        }
        guard let type = owner.structuredType, let property = model.property(name, of: type.qualifiedName) else { return }
        verifyChanging(owner, walk, "UpdateRestrictions", "Updatable", "updatable", "updates")
        if !end.isStream { verifyVersion(owner, "updates") }
        var value = operation.body
        if operation.method == .delete, operation.bytes == nil, !end.isStream { value = .null }
        if case .object(let object)? = value, end.isCollection || end.structuredType == nil || format.version == .v2 {
            value = object[format.version == .v2 ? name : "value"]
        }
        // The place is that of the property's owner, as in a body.
        let place = place.hasSuffix("/" + name) ? String(place.dropLast(name.count + 1)) : place
        verifyProperty(property, value, end.steps, owner.restrictions, at: place)
    }

    private mutating func verifyReference(_ walk: ResourceWalk) {
        guard let (owner, name, end) = walk.lastMember else { return }
        guard end.isResource, let relation = end.restrictions.navigation else {
            return base.report(
                .misplaced, at: place, name, "'\(name)' isn't a relation", fix: "use the path of a navigation property")
        }
        let steps = Array(end.restrictions.steps.dropFirst(owner.restrictions.steps.count))
        let binding = end.restrictions.binding
        if operation.method == .delete {
            if let found = owner.restrictions.annotation("DeleteRestrictions"),
                found.lists(steps, in: "NonDeletableNavigationProperties", model)
            {
                exclude("removing references of '\(steps.path)'", by: found.name, fix: "delete or update the related entity")
            }
            if !relation.isCollection, !relation.isNullable {
                base.report(
                    .nullability, at: place, name, "'\(name)' can't be without an entity (Nullable of \(relation.target))",
                    fix: "set another entity by setReference(_:to:if:)")
            }
        } else {
            verifyRebinding(steps, owner.restrictions)
            if let id = (operation.body?["@id"] ?? operation.body?["@odata.id"] ?? operation.body?["uri"])?.string {
                verifyTarget(id, of: relation, at: place)
            }
            if operation.method == .post, !relation.isCollection {
                base.report(
                    .misplaced, at: place, name, "'\(name)' leads to one entity, to which none can be added",
                    fix: "use setReference(_:to:if:)")
            } else if operation.method == .put, relation.isCollection {
                base.report(.misplaced, at: place, name, "'\(name)' leads to many entities", fix: "use addReference(to:in:)")
            }
        }
        if !model.permitsWriting(relation) {
            exclude("changes of '\(name)'", by: "Core.Permissions of \(relation.target)", fix: "leave the relation as it is")
        }
        let attribute = operation.method == .post ? "creatable" : operation.method == .delete ? "deletable" : "updatable"
        if let binding, binding.extensions[attribute, in: ServiceModel.Extensions.sap] == "false" {
            exclude("this change of '\(name)'", by: "sap:\(attribute) of its association set", fix: "leave the relation as it is")
        }
    }

    /// Verifies that a relation can lead to other entities than before.
    mutating func verifyRebinding(_ steps: [PathStep], _ restrictions: Restrictions) {
        guard let found = restrictions.annotation("UpdateRestrictions"),
            found.lists(steps, in: "NonUpdatableNavigationProperties", model)
        else { return }
        exclude("changes of the relation '\(steps.path)'", by: found.name, fix: "leave the relation as it is")
    }

    /// Verifies that the entity of a reference is of the relation's type.
    mutating func verifyTarget(_ url: String, of relation: ServiceModel.NavigationProperty, at place: String) {
        guard let given = resource(at: url).end, !given.isCollection, let type = given.structuredType,
            let wanted = model.structuredType(relation.targetType), type.kind == .entity,
            !model.isType(type.qualifiedName, derivedFrom: wanted.qualifiedName),
            !model.isType(wanted.qualifiedName, derivedFrom: type.qualifiedName)
        else { return }
        base.report(
            .wrongType, at: place, relation.name,
            "'\(relation.name)' leads to \(wanted.qualifiedName), and the reference to \(type.qualifiedName)",
            fix: "refer to an entity of \(wanted.qualifiedName)")
    }

    // MARK: Restrictions

    mutating func exclude(_ what: String, at place: String? = nil, _ offender: String? = nil, by source: String, fix: String) {
        base.reportRestriction(what, at: place ?? self.place, offender ?? self.place, by: source, fix: fix)
    }

    private mutating func verifyLevels(_ term: String, _ restrictions: Restrictions, _ what: String) {
        guard let found = restrictions.atRoot?.annotation(term), let limit = found.value?["MaxLevels"]?.intValue, limit >= 0,
            Int64(restrictions.levelCount) > limit
        else { return }
        exclude(
            "\(what) over more than \(limit) navigation properties", by: "\(found.name) (MaxLevels)",
            fix: "use a shorter path to the entities")
    }

    private mutating func verifyPermissions(_ restrictions: Restrictions, _ what: String, fix: String) {
        if let navigation = restrictions.navigation {
            if !model.permitsWriting(navigation) { exclude(what, by: "Core.Permissions of \(navigation.target)", fix: fix) }
        } else if let set = restrictions.set, !model.permitsWriting(set) {
            exclude(what, by: "Core.Permissions of \(set.name)", fix: fix)
        }
    }

    /// Verifies the method of an update.
    private mutating func verifyMethod(_ found: Restrictions.Found) {
        guard let text = found.value?["UpdateMethod"]?.text else { return }
        let methods = text.split { $0 == "," || $0 == " " }.map(String.init)
        let method = operation.method == .put ? "PUT" : "PATCH"
        guard !methods.isEmpty, !methods.contains(method) else { return }
        exclude(
            "updates by \(method)", by: "\(found.name) (UpdateMethod)",
            fix: methods.contains("PUT") ? "send the whole entity by replace(_:with:)" : "send the changes by update(_:with:)")
    }

    /// Verifies the options that shape the answer.
    private mutating func verifyQueryOptions(_ found: Restrictions.Found) {
        guard let supported = found.value?["QueryOptions"], supported.recordValue != nil else { return }
        let options = operation.query.options
        let isSelecting = if case .items = options.selection { true } else { false }
        for (name, isUsed, property) in [
            ("$select", isSelecting, "SelectSupported"), ("$expand", !options.expansions.isEmpty, "ExpandSupported"),
        ] where isUsed && supported[property]?.boolValue != true {
            exclude("\(name) in changes", at: name, name, by: "\(found.name) (QueryOptions)", fix: "read the entity afterwards")
        }
    }

    // MARK: Versions

    /// Whether the change states a version that the entity must have, or that it must exist.
    private var hasVersion: Bool {
        operation.condition.header(format.version)?.name == "If-Match" || operation.query.options.headers["If-Match"] != nil
    }

    private mutating func verifyVersion(_ end: ModelPoint, _ what: String) {
        guard !hasVersion, end.isResource, let source = versionRequirement(end) else { return }
        base.report(
            .missingVersion, at: place, "If-Match", "the service requires an entity tag for \(what) by \(source)",
            fix: "pass the version that was read, if: .version(etag), or any version, if: .exists")
    }

    private func versionRequirement(_ end: ModelPoint) -> String? {
        let restrictions = end.restrictions
        if let set = restrictions.set, model.annotation("Org.OData.Core.V1.OptimisticConcurrency", of: set) != nil {
            return "Core.OptimisticConcurrency of \(set.name)"
        }
        if let found = restrictions.annotation("OptimisticConcurrencyControl"), found.value?.boolValue == true { return found.name }
        let term = operation.kind == .deletion ? "DeleteRestrictions" : "UpdateRestrictions"
        let headers = restrictions.annotation(term)?.value?["CustomHeaders"]?.elements ?? []
        if headers.contains(where: { $0["Name"]?.text?.lowercased() == "if-match" && $0["Required"]?.boolValue == true }) {
            return "Capabilities.\(term) of \(restrictions.name) (CustomHeaders)"
        }
        guard model.version < .v4, let type = end.structuredType,
            let property = model.properties(of: type).first(where: { $0.extensions["ConcurrencyMode"] == "Fixed" })
        else { return nil }
        return "ConcurrencyMode of \(property.target)"
    }
}

extension ServiceModel.Element {
    /// Returns whether an attribute of SAP's is `false`.
    func sapExcludes(_ attribute: String) -> Bool { extensions[attribute, in: ServiceModel.Extensions.sap] == "false" }
}
