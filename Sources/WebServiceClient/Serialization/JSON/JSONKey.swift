/// A key of a coding path in a JSON payload: a member's name, or a place in an array, which is spelled as Foundation does.
package struct JSONKey: CodingKey {
    package let stringValue: String
    package let intValue: Int?

    package init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    package init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    package init(stringValue: String) { self.init(stringValue) }
    package init(intValue: Int) { self.init(index: intValue) }

    package static let `super` = JSONKey("super")
}
