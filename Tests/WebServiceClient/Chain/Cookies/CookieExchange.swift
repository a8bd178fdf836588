import Foundation

@testable import WebServiceClient

/// A cookie store with a settable date, and servers that set cookies.
struct CookieExchange {
    static let start = Date(timeIntervalSince1970: 1_800_000_000)

    /// A list of public suffixes in the format of publicsuffix.org.
    static let suffixes = PublicSuffixes(
        list: Data("// a comment\n\ncom\nexample\ntest\nuk\nco.uk\nck\n*.ck\n!www.ck\ngithub.io\n*.wild.test\n公司.cn\n".utf8))

    var store = CookieStore()
    var now = Self.start

    static func place(_ url: String) throws -> CookiePlace {
        guard let parsed = URL(string: url), let place = CookiePlace(parsed) else { throw URLError(.badURL) }
        return place
    }

    /// Receives the `Set-Cookie` fields of a response, and throws the refusal of the first that is refused.
    mutating func receive(_ fields: String..., from url: String) throws {
        let place = try Self.place(url)
        for field in fields {
            let cookie = try SetCookieParser.parse(Array(field.utf8)).cookie(from: place, Self.suffixes, now: now)
            try store.store(cookie, from: place, at: now)
        }
    }

    /// The refusal of a field; `nil` if it is stored.
    mutating func refusal(of field: String, from url: String) -> CookieRefusal? {
        do {
            try receive(field, from: url)
            return nil
        } catch {
            return error as? CookieRefusal
        }
    }

    /// The `Cookie` field of a request; empty if there is none.
    mutating func sent(to url: String) throws -> String {
        var field: [UInt8] = []
        _ = store.append(to: &field, for: try Self.place(url), omitting: [], at: now)
        return String(decoding: field, as: UTF8.self)
    }
}
