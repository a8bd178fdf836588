import Foundation

@testable import OData

extension QueryGenerator {
    mutating func resource() -> ResourcePath {
        switch below(12) {
        case 0: return ResourcePath(segments: [.crossjoin(["Products", "Sales"])])
        case 1: return .all(of: isOne(in: 2) ? "Ns.Type" : nil)
        case 2: return ResourcePath(segments: [.function("Top", [])]).function("Ns.Best", ["n": 5, "größe": text()])
        default: break
        }
        var path = ResourcePath(entitySet: pick(["People", "Größen"]))
        if isOne(in: 5) { path = path.cast(to: "Ns.Type") }
        if isOne(in: 2) {
            var key = key()
            // After a type, named key parts would make it a function.
            while path.segments.count > 1, key.count > 1 { key = self.key() }
            path.segments.append(.key(key))
            path = path.property(pick(["Trips", "Größe"]))
        } else if !isForJudge, isOne(in: 5) {
            path.segments.append(.keySegment(pick([.integer(5), .guid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7)))])))
            path = path.property("Trips")
        }
        if isOne(in: 5) {
            path.segments.append(.filter(predicate(2)))
            // A filtered collection is still a collection.
            return isOne(in: 2) ? path.count() : isOne(in: 2) ? path.each() : path
        }
        if isOne(in: 5) { path = path.function("Ns.Nearby", ["distance": 5, "where": text()]) }
        switch below(10) {
        case 0: return path.count()
        case 1: return path.ref()
        case 2: return path.value()
        case 3: return path.each()
        // Indices exist for collections of values only.
        case 4: return path.property("Emails").element(at: -1 - below(5))
        default: return path
        }
    }

    mutating func query() -> ODataQuery {
        ODataQuery(resource(), options: options(isForJudge ? 1 : 2, isTop: true))
    }
}
