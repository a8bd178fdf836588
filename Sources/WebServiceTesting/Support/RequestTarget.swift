import Foundation
import WebServiceClient

/// A parsed request target (RFC 9112, section 3.2). It works on bytes, so that invalid targets are preserved.
struct RequestTarget {
    let path: ArraySlice<UInt8>
    let query: ArraySlice<UInt8>?

    init(_ bytes: [UInt8]) {
        let afterOrigin = Self.skippingOrigin(of: bytes[...])
        let mark = afterOrigin.firstIndex(of: UInt8(ascii: "?"))
        path = afterOrigin[..<(mark ?? afterOrigin.endIndex)]
        query = mark.map { afterOrigin[($0 + 1)...] }
    }

    /// The decoded segments; `/` has none, and `/a/` has `a` and an empty one.
    var segments: [String] {
        let rooted = path.first == UInt8(ascii: "/") ? path.dropFirst() : path
        guard !rooted.isEmpty else { return [] }
        return rooted.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(decoding: Self.percentDecoded($0), as: UTF8.self)
        }
    }

    /// Returns the pairs of a query or form.
    static func pairs(of bytes: some Collection<UInt8>, plusIsBlank: Bool) -> [URLQueryItem] {
        bytes.split(separator: UInt8(ascii: "&")).map { pair in
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let texts = halves.map { half in
                let spaced = plusIsBlank ? half.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 } : Array(half)
                return String(decoding: percentDecoded(spaced), as: UTF8.self)
            }
            return URLQueryItem(name: texts.first ?? "", value: texts.count > 1 ? texts[1] : nil)
        }
    }

    /// Decodes each `%` with two hexadecimal digits. Any other `%` is kept.
    static func percentDecoded(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let pair = hexadecimal(rest.prefix(2)) else {
                decoded.append(byte)
                continue
            }
            decoded.append(pair)
            rest.removeFirst(2)
        }
        return decoded
    }

    private static func hexadecimal(_ digits: some Collection<UInt8>) -> UInt8? {
        let values = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return values.count == 2 ? UInt8(truncatingIfNeeded: values[0] * 16 + values[1]) : nil
    }

    /// Removes scheme and authority of the absolute form, which is sent to proxies.
    private static func skippingOrigin(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard bytes.first != UInt8(ascii: "/"), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: Array("://".utf8))
        else { return bytes }
        let authority = bytes[(colon + 3)...]
        return authority[(authority.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? authority.endIndex)...]
    }
}

/// A path with placeholders, which ``LoopbackRoutes`` compares with the decoded segments of a request.
struct RoutePattern: Sendable {
    private enum Segment: Sendable {
        case literal(String)
        case one(String)
        case rest(String)
    }

    private let segments: [Segment]

    init(_ pattern: String) {
        let rooted = pattern.hasPrefix("/") ? pattern.dropFirst() : pattern[...]
        segments =
            rooted.isEmpty
            ? []
            : rooted.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map(Substring.init).map { text in
                if text.hasPrefix(":") { return .one(String(text.dropFirst())) }
                if text.hasPrefix("*") { return .rest(String(text.dropFirst())) }
                return .literal(String(text))
            }
    }

    /// Returns the values of the placeholders, or `nil` if the path doesn't match.
    func match(_ path: [String]) -> [String: String]? {
        var parameters: [String: String] = [:]
        var rest = path[...]
        for segment in segments {
            if case .rest(let name) = segment {
                parameters[name] = rest.joined(separator: "/")
                return parameters
            }
            guard let found = rest.popFirst() else { return nil }
            switch segment {
            case .literal(let text): guard text == found else { return nil }
            case .one(let name), .rest(let name): parameters[name] = found
            }
        }
        return rest.isEmpty ? parameters : nil
    }
}

/// A sequence of answers; the last one repeats.
final class Turns<Answer: Sendable>: Sendable {
    private let answers: [Answer]
    private let given = Locked(0)

    init(_ answers: [Answer]) {
        self.answers = answers
    }

    /// Returns the next answer; `nil` only if the list is empty.
    func next() -> Answer? {
        given.withLock { given in
            defer { given = min(given + 1, answers.count) }
            return given < answers.count ? answers[given] : answers.last
        }
    }
}
