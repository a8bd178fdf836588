public import Foundation

extension FieldReflection {
    /// How the names of properties become names of fields. Names of query items, keys of dictionaries and labels of arguments are never
    /// converted.
    public struct KeyStrategy: Hashable, Sendable, CustomStringConvertible {
        /// A conversion, which is equal only to itself.
        private final class Conversion: Sendable {
            let convert: @Sendable ([any CodingKey]) -> String

            init(_ convert: @escaping @Sendable ([any CodingKey]) -> String) { self.convert = convert }
        }

        private enum Kind: Hashable, Sendable {
            case asDeclared
            case snakeCase
            case custom(ObjectIdentifier)
        }

        private let kind: Kind
        private var conversion: Conversion?

        private init(_ kind: Kind) { self.kind = kind }

        private init(_ conversion: Conversion) {
            kind = .custom(ObjectIdentifier(conversion))
            self.conversion = conversion
        }

        /// As the type declares them.
        public static let asDeclared = KeyStrategy(.asDeclared)

        /// `perPage` becomes `per_page`, by the rules of Foundation's `convertToSnakeCase`.
        public static let snakeCase = KeyStrategy(.snakeCase)

        /// Names by a custom conversion of the property's name.
        public static func custom(_ convert: @escaping @Sendable (String) -> String) -> KeyStrategy {
            KeyStrategy(Conversion { path in convert(path.last?.stringValue ?? "") })
        }

        /// Names by a custom conversion of the path to the property, as an encoder's.
        static func custom(byPath convert: @escaping @Sendable ([any CodingKey]) -> any CodingKey) -> KeyStrategy {
            KeyStrategy(Conversion { path in convert(path).stringValue })
        }

        /// Returns the name of a property's field.
        func name(_ name: String, at path: @autoclosure () -> [any CodingKey]) -> String {
            switch kind {
            case .asDeclared: name
            case .snakeCase: Self.snakeCase(of: name)
            case .custom: conversion?.convert(path() + [FieldKey(stringValue: name)]) ?? name
            }
        }

        /// The same names in JSON.
        var encoding: JSONEncoder.KeyEncodingStrategy {
            switch kind {
            case .asDeclared: .useDefaultKeys
            case .snakeCase: .convertToSnakeCase
            case .custom: .custom { path in FieldKey(stringValue: name(path.last?.stringValue ?? "", at: Array(path.dropLast()))) }
            }
        }

        /// Whether names remain unchanged.
        var isIdentity: Bool { kind == .asDeclared }

        /// Whether the kinds are equal, and if custom, the conversion is the same.
        public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }

        /// Hashes the kind.
        public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

        /// The strategy's name.
        public var description: String {
            switch kind {
            case .asDeclared: "keys as declared"
            case .snakeCase: "keys in snake case"
            case .custom: "custom keys"
            }
        }

        /// Reads what ``description`` writes; `nil` for custom keys, and for any other text.
        package init?(described text: String) {
            guard let strategy = [Self.asDeclared, .snakeCase].first(where: { $0.description == text }) else { return nil }
            self = strategy
        }

        /// Separates the words of a name, in lower case, by Foundation's rules: a word begins at a capital after a small letter, and at the
        /// last of several capitals before a small letter.
        private static func snakeCase(of name: String) -> String {
            guard !name.isEmpty else { return name }
            var words: [Substring] = []
            var start = name.startIndex
            var rest = name[name.index(after: start)...]
            while let capital = rest.firstIndex(where: \.isUppercase) {
                words.append(name[start..<capital])
                rest = name[capital...]
                guard let small = rest.firstIndex(where: \.isLowercase) else {
                    start = capital
                    break
                }
                if small == name.index(after: capital) {
                    start = capital
                } else {
                    let last = name.index(before: small)
                    words.append(name[capital..<last])
                    start = last
                }
                rest = name[name.index(after: small)...]
            }
            words.append(name[start...])
            return words.map { $0.lowercased() }.joined(separator: "_")
        }
    }

    /// How dates are written in query items and forms.
    public struct DateStrategy: Hashable, Sendable, CustomStringConvertible {
        /// A conversion, which is equal only to itself.
        private final class Conversion: Sendable {
            let write: @Sendable (Date, any Encoder) throws -> Void
            let read: @Sendable (String) -> Date?

            init(_ write: @escaping @Sendable (Date, any Encoder) throws -> Void, _ read: @escaping @Sendable (String) -> Date?) {
                self.write = write
                self.read = read
            }
        }

        private enum Kind: Hashable, Sendable {
            case iso8601(Int)
            case seconds
            case milliseconds
            case custom(ObjectIdentifier)
        }

        private let kind: Kind
        private var conversion: Conversion?

        private init(_ kind: Kind) { self.kind = kind }

        private init(_ conversion: Conversion) {
            kind = .custom(ObjectIdentifier(conversion))
            self.conversion = conversion
        }

        /// ISO 8601, in UTC and with milliseconds unless they are zero.
        public static let iso8601 = iso8601(fractionDigits: 3)

        /// ISO 8601, rounded to this number of fraction digits, 0 to 9; without a fraction for a whole second.
        public static func iso8601(fractionDigits: Int) -> DateStrategy { DateStrategy(.iso8601(min(max(fractionDigits, 0), 9))) }

        /// Seconds since 1970 as a number, with a fraction unless it is zero: `1577836800`.
        public static let seconds = DateStrategy(.seconds)

        /// Milliseconds since 1970 as a number, with a fraction unless it is zero.
        public static let milliseconds = DateStrategy(.milliseconds)

        /// Texts in a custom format.
        ///
        /// - Parameters:
        ///   - read: Returns the date of a text in a form that is read; `nil` if it isn't a date. By default, ISO 8601 is read.
        ///   - write: Returns the text of a date; `nil` if it has none, which is an error.
        public static func custom(
            read: @escaping @Sendable (String) -> Date? = { _ in nil }, _ write: @escaping @Sendable (Date) -> String?
        ) -> DateStrategy {
            let encode: @Sendable (Date, any Encoder) throws -> Void = { date, encoder in
                guard let text = write(date) else {
                    throw EncodingError.invalidValue(
                        Unwritable.Date(date),
                        EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "The date can't be written in this format.")
                    )
                }
                var container = encoder.singleValueContainer()
                try container.encode(text)
            }
            return DateStrategy(Conversion(encode, read))
        }

        /// Dates as an encoder's closure writes them.
        static func custom(encoding write: @escaping @Sendable (Date, any Encoder) throws -> Void) -> DateStrategy {
            DateStrategy(Conversion(write) { _ in nil })
        }

        /// The same dates in JSON.
        var encoding: JSONEncoder.DateEncodingStrategy {
            switch kind {
            case .iso8601(let digits): DateStrategy.custom { ISO8601.text(of: $0, fractionDigits: digits) }.encoding
            case .seconds: .secondsSince1970
            case .milliseconds: .millisecondsSince1970
            case .custom: conversion.map { JSONEncoder.DateEncodingStrategy.custom($0.write) } ?? .deferredToDate
            }
        }

        /// Whether dates have the default form, which needs no conversion.
        var isDefault: Bool { kind == .iso8601(3) }

        /// Whether the kinds are equal, and if custom, the conversion is the same.
        public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }

        /// Hashes the kind.
        public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

        /// The strategy's name.
        public var description: String {
            switch kind {
            case .iso8601(let digits): digits == 3 ? "dates in ISO 8601" : "dates in ISO 8601 with \(digits) digits of a second"
            case .seconds: "dates in seconds"
            case .milliseconds: "dates in milliseconds"
            case .custom: "custom dates"
            }
        }

        /// Reads what ``description`` writes; `nil` for custom dates, and for any other text.
        package init?(described text: String) {
            let known = [Self.seconds, .milliseconds] + (0...9).map { .iso8601(fractionDigits: $0) }
            guard let strategy = known.first(where: { $0.description == text }) else { return nil }
            self = strategy
        }

        /// Returns the date that a text in a form represents; `nil` if it has another form.
        func date(from text: String) -> Date? {
            switch kind {
            case .iso8601: nil
            case .seconds: Double(text).flatMap { $0.isFinite ? Date(timeIntervalSince1970: $0) : nil }
            case .milliseconds: Double(text).flatMap { $0.isFinite ? Date(timeIntervalSince1970: $0 / 1_000) : nil }
            case .custom: conversion?.read(text)
            }
        }

        /// Returns the tree of a date.
        func tree(of date: Date, at path: FieldPath, depth: Int, by builder: FieldTreeBuilder) throws -> FieldTree {
            switch kind {
            case .iso8601(let digits):
                guard let text = ISO8601.text(of: date, fractionDigits: digits) else {
                    throw ReflectionError(.dateOutOfRange, at: path, type: Date.self)
                }
                return .text(text)
            case .seconds: return .text(try Self.number(date.timeIntervalSince1970, at: path))
            case .milliseconds: return .text(try Self.number(date.timeIntervalSince1970 * 1_000, at: path))
            case .custom:
                let encoder = FieldEncoder(path: path, depth: depth, builder: builder, node: FieldNode())
                try conversion?.write(date, encoder)
                guard let tree = encoder.node.tree else { throw ReflectionError(.mixedContainers, at: path, type: Date.self) }
                return tree
            }
        }

        private static func number(_ value: Double, at path: FieldPath) throws(ReflectionError) -> String {
            guard value.isFinite else { throw ReflectionError(.notFinite, at: path, type: Date.self) }
            return Int64(exactly: value).map(String.init) ?? "\(value)"
        }
    }
}

/// Values in errors that have no text.
enum Unwritable {
    /// A date. Errors don't contain the date itself, because its description can crash the process.
    struct Date: Sendable {
        let secondsSince1970: Double

        init(_ date: Foundation.Date) { secondsSince1970 = date.timeIntervalSince1970 }
    }
}
