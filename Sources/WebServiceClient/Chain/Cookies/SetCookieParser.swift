import Foundation

/// The content of a `Set-Cookie` field, before the rules of storing apply.
struct SetCookie: Sendable, Equatable {
    var name: [UInt8]
    var value: [UInt8]
    /// The date of the last valid `Expires`.
    var expires: Date?
    /// The seconds of the last valid `Max-Age`, which takes precedence over `Expires`; at most ten digits, since longer ones exceed every
    /// limit.
    var maxAge: Int64?
    /// The last `Domain` in lower case without a leading dot; `nil` without one.
    var domain: [UInt8]?
    /// The last `Path`; empty if it doesn't begin with a slash, `nil` without one.
    var path: [UInt8]?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: Cookie.SameSite?
}

/// Parses `Set-Cookie` fields by the algorithm of RFC 6265bis §5.6, which accepts nearly everything that servers send.
///
/// It works on bytes: names and values have no charset. Each field is one cookie: fields must not be joined, because a comma is part of
/// `Expires`.
enum SetCookieParser {
    /// The maximum number of bytes of an attribute's value. A longer attribute is ignored.
    static let attributeLimit = 1024

    /// Parses a field's value.
    ///
    /// - Throws: ``CookieRefusal`` if the field sets no cookie: it has a control character, or is too long.
    static func parse(_ field: [UInt8]) throws(CookieRefusal) -> SetCookie {
        // The limit of the size comes first, so that a long field costs nothing more.
        let end = field.firstIndex(of: UInt8(ascii: ";")) ?? field.endIndex
        guard end <= Cookie.sizeLimit * 2 else { throw .size }
        guard !field.contains(where: isControl) else { throw .control }
        let (name, value) = pair(field[..<end])
        let (trimmedName, trimmedValue) = value.map { (trimmed(name), trimmed($0)) } ?? ([], trimmed(name))
        guard trimmedName.count + trimmedValue.count <= Cookie.sizeLimit else { throw .size }
        var result = SetCookie(name: Array(trimmedName), value: Array(trimmedValue))
        var rest = field[end...]
        while !rest.isEmpty {
            rest = rest.dropFirst()
            let end = rest.firstIndex(of: UInt8(ascii: ";")) ?? rest.endIndex
            let (name, value) = pair(rest[..<end])
            rest = rest[end...]
            let content = trimmed(value ?? [])
            guard content.count <= attributeLimit else { continue }
            apply(trimmed(name), content, to: &result)
        }
        return result
    }

    private static func apply(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, to cookie: inout SetCookie) {
        switch name.count {
        case 6 where equals(name, "secure"): cookie.isSecure = true
        case 8 where equals(name, "httponly"): cookie.isHTTPOnly = true
        case 7 where equals(name, "expires"): if let date = CookieDate.date(from: value) { cookie.expires = date }
        case 7 where equals(name, "max-age"): if let seconds = seconds(value) { cookie.maxAge = seconds }
        case 6 where equals(name, "domain"):
            cookie.domain = (value.first == UInt8(ascii: ".") ? value.dropFirst() : value).map(lowercased)
        case 4 where equals(name, "path"): cookie.path = value.first == UInt8(ascii: "/") ? Array(value) : []
        case 8 where equals(name, "samesite"):
            cookie.sameSite = Cookie.SameSite.allCases.first { equals(value, $0.rawValue.lowercased()) }
        default: break
        }
    }

    /// Returns the parts before and after the first equals sign.
    private static func pair(_ bytes: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>?) {
        guard let sign = bytes.firstIndex(of: UInt8(ascii: "=")) else { return (bytes, nil) }
        return (bytes[..<sign], bytes[bytes.index(after: sign)...])
    }

    /// Returns the seconds of `Max-Age`: an optional minus and digits only (RFC 6265bis §5.6.2).
    private static func seconds(_ value: ArraySlice<UInt8>) -> Int64? {
        let isNegative = value.first == UInt8(ascii: "-")
        let digits = isNegative ? value.dropFirst() : value
        guard digits.allSatisfy({ (48...57).contains($0) }), !value.isEmpty else { return nil }
        var seconds: Int64 = 0
        for digit in digits {
            seconds = min(seconds * 10 + Int64(digit - 48), 9_999_999_999)
        }
        return isNegative ? -seconds : seconds
    }

    /// Removes spaces and tabs from both ends.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, first == 32 || first == 9 { bytes.removeFirst() }
        while let last = bytes.last, last == 32 || last == 9 { bytes.removeLast() }
        return bytes
    }

    /// Whether a byte is a control character other than the tab.
    static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 9 || byte == 0x7F }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte | 0x20 : byte }

    /// Whether bytes equal a lower-case text, without case.
    private static func equals(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool {
        bytes.count == text.utf8.count && zip(bytes, text.utf8).allSatisfy { lowercased($0) == $1 }
    }
}

extension SetCookie {
    /// The longest life of a cookie (RFC 6265bis §5.5).
    static let longestLife: TimeInterval = 400 * 86_400

    /// Returns the cookie that a server at a place sets (RFC 6265bis §5.7), without regard to those already there.
    ///
    /// - Throws: ``CookieRefusal`` if the server may not set it.
    func cookie(from place: CookiePlace, _ suffixes: PublicSuffixes, now: Date) throws(CookieRefusal) -> Cookie {
        guard !name.isEmpty || !value.isEmpty else { throw .empty }
        var own = domain ?? []
        if !own.isEmpty {
            guard own.allSatisfy({ $0 < 0x80 }) else { throw .domain }
            let isOwn = own.elementsEqual(place.host.utf8)
            // An address, which has no subdomains, and a public suffix can be a host, but no domain.
            if isOwn, place.isAddress || suffixes.contains(place.host) {
                own = []
            } else if !isOwn {
                let text = String(decoding: own, as: UTF8.self)
                guard place.isWithin(domain: text) else { throw suffixes.contains(text) ? .publicSuffix : .domain }
                guard !suffixes.contains(text) else { throw .publicSuffix }
            }
        }
        guard !isSecure || place.isSecure else { throw .insecure }
        guard sameSite != Cookie.SameSite.none || isSecure else { throw .sameSite }
        let path = path ?? []
        let cookie = Cookie(
            nameBytes: name, valueBytes: value, domain: own.isEmpty ? place.host : String(decoding: own, as: UTF8.self),
            isHostOnly: own.isEmpty, path: path.isEmpty ? place.defaultPath : Cookie.text(path), isSecure: isSecure,
            isHTTPOnly: isHTTPOnly, sameSite: sameSite, expires: end(now), created: now)
        if let refusal = CookieRefusal.ofPrefix(cookie, hasRootPath: path == [UInt8(ascii: "/")]) { throw refusal }
        return cookie
    }

    /// The end of the cookie in whole seconds: never earlier than the server wants, but at most 400 days from now.
    private func end(_ now: Date) -> Date? {
        let second = now.timeIntervalSince1970
        let end: TimeInterval
        if let maxAge {
            end = maxAge > 0 ? second.rounded(.up) + TimeInterval(maxAge) : 0
        } else if let expires {
            end = expires.timeIntervalSince1970
        } else {
            return nil
        }
        return Date(timeIntervalSince1970: min(end, second.rounded(.down) + Self.longestLife))
    }
}
