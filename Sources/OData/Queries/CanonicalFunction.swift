/// The properties of a canonical function (URL Conventions, section 5.1.1; Data Aggregation, section 3.3).
package struct CanonicalFunction: Sendable {
    /// The name in its exact case.
    package let name: String
    /// The number of arguments.
    package let arity: ClosedRange<Int>
    /// The first version that supports the function.
    let since: ODataVersion
    /// The last version that supports the function; `nil` if it is the latest.
    package let through: ODataVersion?

    private static let all: [CanonicalFunction] = {
        let v2: [(String, ClosedRange<Int>)] = [
            ("endswith", 2...2), ("startswith", 2...2), ("length", 1...1), ("indexof", 2...2), ("substring", 2...3), ("tolower", 1...1),
            ("toupper", 1...1), ("trim", 1...1), ("concat", 2...2), ("day", 1...1), ("hour", 1...1), ("minute", 1...1),
            ("month", 1...1), ("second", 1...1), ("year", 1...1), ("round", 1...1), ("floor", 1...1), ("ceiling", 1...1),
            // V2 calls it substringof, with the arguments swapped; the printer converts it.
            ("contains", 2...2),
        ]
        let v4: [(String, ClosedRange<Int>)] = [
            ("date", 1...1), ("time", 1...1), ("fractionalseconds", 1...1), ("totalseconds", 1...1), ("totaloffsetminutes", 1...1),
            ("now", 0...0), ("mindatetime", 0...0), ("maxdatetime", 0...0), ("geo.distance", 2...2), ("geo.length", 1...1),
            ("geo.intersects", 2...2), ("isdefined", 1...1),
        ]
        let v401: [(String, ClosedRange<Int>)] = [("matchesPattern", 2...2), ("hassubset", 2...2), ("hassubsequence", 2...2)]
        func made(_ list: [(String, ClosedRange<Int>)], _ version: ODataVersion) -> [CanonicalFunction] {
            list.map { CanonicalFunction(name: $0.0, arity: $0.1, since: version, through: nil) }
        }
        let removed = [CanonicalFunction(name: "replace", arity: 3...3, since: .v2, through: .v2)]
        return made(v2, .v2) + removed + made(v4, .v4) + made(v401, .v401)
    }()

    /// Functions by name, in their exact case.
    private static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    /// Functions by lowercase name, because 4.01 services ignore case.
    private static let folded = Dictionary(uniqueKeysWithValues: all.map { ($0.name.lowercased(), $0) })

    package static func named(_ name: String) -> CanonicalFunction? {
        named[name]
    }

    package static func folded(_ name: String) -> CanonicalFunction? {
        named[name] ?? folded[name.lowercased()]
    }
}
