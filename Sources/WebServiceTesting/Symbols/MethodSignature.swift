import Foundation
import WebServiceClient

/// A method or property of a class, parsed from the demangled text of its symbol.
struct MethodSignature: Sendable, Hashable {
    let name: MethodName
    /// The types of the parameters, as Swift's demangler spells them.
    let parameters: [String]
    let result: String
    /// The protocols that the generic parameters conform to, by the parameter's name in the symbol.
    let constraints: [String: [String]]
    let isAsync: Bool
    let isThrowing: Bool

    /// Parses the text of a symbol.
    ///
    /// - Parameters:
    ///   - text: A text such as `Kit.Shop.product(id: Swift.Int) async throws -> Kit.Product`.
    ///   - owner: The class's own text, such as `Kit.Shop`; for a class in a function `Shop #1 in Kit.make() -> ()`.
    /// - Returns: `nil` if the text isn't an instance method or getter of the class, or has parts that this parser doesn't know.
    init?(_ text: String, of owner: String) {
        guard let member = Self.member(of: owner, in: text), let open = member.firstIndex(where: { $0 == "(" || $0 == "<" }) else {
            guard let property = Self.member(of: owner, in: text) else { return nil }
            self.init(property: property)
            return
        }
        let base = String(member[..<open])
        if base.contains(".getter : ") {
            self.init(property: member)
            return
        }
        // A dot separates nested types, and "#" counts functions in functions.
        guard !base.isEmpty, !base.contains("."), !base.contains("#") else { return nil }
        var rest = member[open...]
        var constraints: [String: [String]] = [:]
        if rest.first == "<" {
            guard let signature = Bracketed.prefix(of: rest) else { return nil }
            constraints = Self.constraints(in: signature.dropFirst().dropLast())
            rest = rest[signature.endIndex...]
        }
        guard rest.first == "(", let list = Bracketed.prefix(of: rest) else { return nil }
        rest = rest[list.endIndex...]
        var labels: [String] = []
        var types: [String] = []
        for parameter in Bracketed.split(list.dropFirst().dropLast(), separator: ", ") {
            let (label, type) = Self.parameter(parameter)
            labels.append(label)
            types.append(type)
        }
        var effects = Effects()
        guard effects.read(&rest), rest.hasPrefix(" -> ") else { return nil }
        self.init(
            MethodName(baseName: base, labels: labels), types, String(rest.dropFirst(4)), constraints, isAsync: effects.isAsync,
            isThrowing: effects.isThrowing)
    }

    private init(
        _ name: MethodName, _ parameters: [String], _ result: String, _ constraints: [String: [String]], isAsync: Bool, isThrowing: Bool
    ) {
        (self.name, self.parameters, self.result, self.constraints) = (name, parameters, result, constraints)
        (self.isAsync, self.isThrowing) = (isAsync, isThrowing)
    }

    /// Parses a getter: `rate.getter : Swift.Int`.
    private init?(property text: Substring) {
        guard let range = text.firstRange(of: ".getter : "), let name = try? MethodName(String(text[..<range.lowerBound])), name.isProperty
        else { return nil }
        self.init(name, [], String(text[range.upperBound...]), [:], isAsync: false, isThrowing: false)
    }

    /// Removes the name of the class: the text before the method's name, or after the result's type.
    private static func member(of owner: String, in text: String) -> Substring? {
        var rest = text[...]
        if rest.hasPrefix("(extension in "), let part = Bracketed.prefix(of: rest) {
            rest = rest[part.endIndex...].dropFirst()
        }
        if owner.contains(" #") {
            guard rest.hasSuffix(" in " + owner) else { return nil }
            rest = rest.dropLast(owner.count + 4)
        } else {
            guard rest.hasPrefix(owner) else { return nil }
            rest = rest.dropFirst(owner.count)
            // An extension of a generic class has its constraints here.
            if rest.first == "<" {
                guard let conditions = Bracketed.prefix(of: rest) else { return nil }
                rest = rest[conditions.endIndex...]
            }
            guard rest.first == "." else { return nil }
            rest = rest.dropFirst()
        }
        // A private method: "(name in _0123)(id: Swift.Int)".
        guard rest.first == "(", let name = Bracketed.prefix(of: rest), let end = name.firstRange(of: " in _") else { return rest }
        return Substring(String(name[..<end.lowerBound].dropFirst()) + rest[name.endIndex...])
    }

    /// Separates the label of a parameter from its type. A parameter without a label has none in the text, or `_`.
    private static func parameter(_ text: Substring) -> (label: String, type: String) {
        guard let colon = text.firstRange(of: ": "), !text[..<colon.lowerBound].contains(where: { "()[]<>. ".contains($0) }) else {
            return ("_", String(text))
        }
        return (String(text[..<colon.lowerBound]), String(text[colon.upperBound...]))
    }

    /// Reads a generic signature, such as `A where A: Swift.Encodable, A: Swift.Sendable`.
    private static func constraints(in text: Substring) -> [String: [String]] {
        guard let range = text.firstRange(of: " where ") else { return [:] }
        var result: [String: [String]] = [:]
        for condition in Bracketed.split(text[range.upperBound...], separator: ", ") {
            guard let colon = condition.firstRange(of: ": ") else { continue }
            result[String(condition[..<colon.lowerBound]), default: []].append(String(condition[colon.upperBound...]))
        }
        return result
    }

    /// The effects between the parameters and the result.
    private struct Effects {
        var isAsync = false
        var isThrowing = false

        mutating func read(_ text: inout Substring) -> Bool {
            if text.hasPrefix(" async") {
                isAsync = true
                text = text.dropFirst(6)
            }
            if text.hasPrefix(" throws") {
                isThrowing = true
                text = text.dropFirst(7)
                if text.first == "(" {
                    guard let type = Bracketed.prefix(of: text) else { return false }
                    text = text[type.endIndex...]
                }
            }
            return true
        }
    }
}

/// Splits texts with nested brackets.
enum Bracketed {
    /// Returns the beginning of a text from its first bracket to the matching one; `nil` if there is none.
    static func prefix(of text: Substring) -> Substring? {
        var depth = 0
        var before: Character = " "
        for index in text.indices {
            depth += change(text[index], after: before)
            before = text[index]
            if depth == 0 { return text[...index] }
        }
        return nil
    }

    /// Splits a text at a separator outside of brackets. An empty text has no parts.
    static func split(_ text: Substring, separator: String) -> [Substring] {
        var parts: [Substring] = []
        var depth = 0
        var before: Character = " "
        var start = text.startIndex
        var index = text.startIndex
        while index < text.endIndex {
            if depth == 0, text[index...].hasPrefix(separator) {
                parts.append(text[start..<index])
                index = text.index(index, offsetBy: separator.count)
                start = index
                before = " "
                continue
            }
            depth += change(text[index], after: before)
            before = text[index]
            index = text.index(after: index)
        }
        if start < text.endIndex || !parts.isEmpty { parts.append(text[start...]) }
        return parts
    }

    private static func change(_ character: Character, after before: Character) -> Int {
        switch character {
        case "(", "[", "<": 1
        case ")", "]": -1
        case ">": before == "-" ? 0 : -1
        default: 0
        }
    }
}

/// The Swift runtime's own demangler, which every program that contains Swift code has.
enum Demangler {
    /// Returns the declaration of a mangled name; `nil` if it isn't a name of Swift.
    ///
    /// The text is meant for people, and may change with the version of Swift (SE-0498). The parsers of the text therefore accept known
    /// forms only.
    static func text(of name: String) -> String? {
        var name = name
        let text = name.withUTF8 { utf8 -> UnsafeMutablePointer<CChar>? in
            utf8.withMemoryRebound(to: CChar.self) { demangle($0.baseAddress, $0.count, nil, nil, 0) }
        }
        guard let text else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}

// Declared by its name, since no module of Swift 6.3 declares it. The runtime allocates the result with malloc.
@_silgen_name("swift_demangle")
private func demangle(
    _ name: UnsafePointer<CChar>?, _ length: Int, _ buffer: UnsafeMutablePointer<CChar>?, _ size: UnsafeMutablePointer<Int>?,
    _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
