public import WebServiceClient

/// A difference between a request, a change or a Swift type and the model of the service: the place, the problem and the fix.
///
///     for fault in request.verify(against: model) { print(fault) }
///     // $filter: 'Adress' isn't a property of Sales.Person; the nearest name is 'Address'
public struct ModelFault: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of differences.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An entity set, a singleton or an operation import that isn't in the container.
        case unknownResource
        /// A property or a navigation property that isn't in the type.
        case unknownProperty
        /// A type that isn't in the model.
        case unknownType
        /// An action or a function that isn't in the model, isn't bound to the type, or has other parameters.
        case unknownOperation
        /// A member that isn't in the enumeration.
        case unknownMember
        /// A member of the service's enumeration that is missing in the Swift type, so that it can't be decoded.
        case missingMember
        /// A part is where its type doesn't allow it, such as a property after a primitive value.
        case misplaced
        /// A key that isn't one of the entity type.
        case key
        /// A literal, a value or a Swift type of another type than the property's.
        case wrongType
        /// A Swift type that can't hold all of the property's values exactly.
        case precision
        /// A property that can be null but isn't optional in Swift, or a null where a change needs a value.
        case nullability
        /// A new entity or a call of an action lacks a property or a parameter that has no default.
        case missingProperty
        /// A change sets a property that the service sets itself, or that can't be changed.
        case notSettable
        /// A change has no entity tag, and the service requires one.
        case missingVersion
        /// A part that the service excludes by an annotation of the Capabilities vocabulary or by an attribute of SAP. Annotations of some
        /// services are incomplete or wrong.
        case restriction
        /// A part that can't be compared: a sample of a Swift type can't be decoded, or parts nest too deeply.
        case undetermined
    }

    /// The kind of the difference.
    public let kind: Kind
    /// The place: a query option such as `$filter` or `$expand=Trips($select)`, the path of the request, the path of a property in a
    /// change, such as `People(…)/Address`, or a property of a Swift type such as `Person.age`.
    public let place: String
    /// The name or value that differs.
    public let offender: String
    /// The description of the problem.
    public let problem: String
    /// The fix.
    public let fix: String

    init(_ kind: Kind, at place: String, _ offender: String, _ problem: String, fix: String) {
        self.kind = kind
        self.place = place.utf8.count > 400 ? place.prefix(200) + "…" + place.suffix(200) : place
        self.offender = String(offender.prefix(200))
        self.problem = problem
        self.fix = fix
    }

    /// The place, the problem and the fix on one line.
    public var description: String { "\(place): \(problem); \(fix)" }
}

/// All differences between a request, a change or a Swift type and the model of the service.
public struct ModelFaults: DescribedError, Sendable, Hashable {
    /// The request or change, by its path without values, or the Swift type.
    public let subject: String
    /// The differences.
    public let faults: [ModelFault]

    /// The subject and its differences, one per line.
    public var description: String {
        VisibleText.of("\(subject) doesn't fit the service's model:") + faults.map { "\n  - " + VisibleText.of($0.description) }.joined()
    }
}

extension ModelFault {
    /// Returns the fix for a name that doesn't exist: the nearest name, or a list of some names.
    static func fix(for name: String, among names: [String], _ what: String) -> String {
        if let nearest = NearestName.of(name, among: names) { return "the nearest name is '\(nearest)'" }
        guard !names.isEmpty else { return "there are no \(what)" }
        let some = names.sorted().prefix(8).map { "'\($0)'" }.joined(separator: ", ")
        return "the \(what) are \(some)" + (names.count > 8 ? " and \(names.count - 8) more" : "")
    }
}
