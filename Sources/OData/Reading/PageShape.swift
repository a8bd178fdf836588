/// Where a page has its entities.
enum PageShape {
    /// V4's and V3's; V2's, with `d` and without; an array by itself.
    static let paths = [["value"], ["results"], ["d", "results"], ["d", "value"], ["d"], []]

    /// Where the entities of a page are, or ought to be.
    static func path(in root: ODataValue) -> [String] {
        var path: [String] = []
        var value = root
        if let object = root.object, object["value"] == nil, object["results"] == nil, let data = object["d"] {
            path = ["d"]
            value = data
        }
        if let object = value.object { path.append(object["value"] == nil ? "results" : "value") }
        return path
    }

    /// The context that a payload says.
    static func context(of root: ODataValue) -> String? { root.object.flatMap { context(of: $0) } }

    /// The context that an object says.
    static func context(of object: DynamicEntity) -> String? {
        for name in contextNames { if let context = object[name]?.string { return context } }
        return nil
    }

    /// What contexts are called, in version 3 last.
    static let contextNames = ["@odata.context", "@context", "odata.metadata"]

    /// Whether a payload is in the shape of version 2 or of 3.
    static func isBeforeVersion4(_ root: ODataValue) -> Bool {
        guard let object = root.object else { return false }
        return object["odata.metadata"] != nil || object.properties.count == 1 && object["d"] != nil
    }
}
