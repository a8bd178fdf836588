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
    static func context(of root: ODataValue) -> String? {
        root.object.flatMap { ControlInformation(entity: $0)["context"] ?? $0["odata.metadata"] }?.string
    }
}
