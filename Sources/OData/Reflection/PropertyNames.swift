import WebServiceClient

/// How a service calls the properties that Swift types have by their coding keys.
///
///     client.printer.names = .snakeCase       // `firstName` is `first_name`: in what is selected, filtered by, read and written
///
/// It goes for whatever a Swift type says: its coding keys, and key paths in queries, which are found by them. Names that are given as texts are the
/// service's own and stay as they are, as do the keys of dictionaries, control information, and names in ``PropertyNaming``.
public struct PropertyNames: Sendable, Hashable {
    private enum Kind: Sendable, Hashable {
        case asDeclared, snakeCase, pascalCase
        case custom(Conversion)
    }

    /// Two conversions are the same where they were made at once.
    private final class Conversion: Sendable, Hashable {
        let toService: @Sendable (String) -> String
        let fromService: @Sendable (String) -> String

        init(toService: @escaping @Sendable (String) -> String, fromService: @escaping @Sendable (String) -> String) {
            self.toService = toService
            self.fromService = fromService
        }

        static func == (left: Conversion, right: Conversion) -> Bool { left === right }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    private let kind: Kind

    /// The coding keys are the service's names.
    public static let asDeclared = PropertyNames(kind: .asDeclared)
    /// `firstName` is `first_name`, `someURL` is `some_url`.
    public static let snakeCase = PropertyNames(kind: .snakeCase)
    /// `firstName` is `FirstName`, as most services of OData have it.
    public static let pascalCase = PropertyNames(kind: .pascalCase)

    /// Conversions of your own.
    ///
    /// - Parameters:
    ///   - toService: the service's name of a property, by its coding key. Different ones must have different names.
    ///   - fromService: the other way, for types that look at what keys there are.
    public static func custom(
        toService: @escaping @Sendable (String) -> String, fromService: @escaping @Sendable (String) -> String
    ) -> PropertyNames {
        PropertyNames(kind: .custom(Conversion(toService: toService, fromService: fromService)))
    }

    /// Whether the service has the declared names.
    var isAsDeclared: Bool {
        if case .asDeclared = kind { true } else { false }
    }

    /// The service's name of what a type declares; of an annotation that of the property which it is about.
    func service(_ name: String) -> String {
        switch kind {
        case .asDeclared: name
        case .snakeCase: Self.convert(name, Self.snake)
        case .pascalCase: Self.convert(name) { $0.prefix(1).uppercased() + $0.dropFirst() }
        case .custom(let conversion): Self.convert(name, conversion.toService)
        }
    }

    /// What a type declares for a name of the service.
    func declared(_ name: String) -> String {
        switch kind {
        case .asDeclared: name
        case .snakeCase: Self.convert(name, Self.camel)
        case .pascalCase: Self.convert(name) { $0.prefix(1).lowercased() + $0.dropFirst() }
        case .custom(let conversion): Self.convert(name, conversion.fromService)
        }
    }

    private static func convert(_ name: String, _ change: (String) -> String) -> String {
        if let at = name.firstIndex(of: "@") { return at == name.startIndex ? name : change(String(name[..<at])) + name[at...] }
        return name.hasPrefix("#") || name.hasPrefix("__") || name.contains(".") ? name : change(name)
    }

    /// A word begins where a capital stands behind what is none, or before what is none.
    private static func snake(_ name: String) -> String {
        let letters = Array(name)
        var result = ""
        for (index, letter) in letters.enumerated() {
            if letter.isUppercase, index > 0, letters[index - 1] != "_" {
                let endsCapitals = index + 1 < letters.count && letters[index + 1].isLowercase
                if !letters[index - 1].isUppercase || endsCapitals { result += "_" }
            }
            result += letter.lowercased()
        }
        return result
    }

    /// Underscores at either end stay.
    private static func camel(_ name: String) -> String {
        guard let start = name.firstIndex(where: { $0 != "_" }), let end = name.lastIndex(where: { $0 != "_" }) else { return name }
        let words = name[start...end].split(separator: "_")
        let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return name[..<start] + (words.first ?? "") + rest.joined() + name[name.index(after: end)...]
    }
}

/// Keys that are names of the service already: those of this library.
protocol ServiceKey {}

/// Types whose keys are values.
protocol KeyedByValues {}

extension Dictionary: KeyedByValues {}

extension JSONKey: ServiceKey {}
