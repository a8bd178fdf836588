import Foundation
import WebServiceClient

/// A page of entities as an OData service sends it, with ten simple values each: texts with escapes and non-ASCII characters, numbers,
/// dates, null.
struct Page: Decodable, Equatable {
    var count: Int
    var value: [Product]
    var nextLink: String?

    enum CodingKeys: String, CodingKey { case count = "@odata.count", value, nextLink = "@odata.nextLink" }
}

/// The same page, decoded as `JSONReadable`.
struct DirectPage: JSONReadable {
    var count: Int
    var value: [DirectProduct]
    var nextLink: String?

    init(from json: borrowing JSONCursor) throws {
        count = try json.read("@odata.count")
        value = try json.read("value")
        nextLink = try json.readIfPresent("@odata.nextLink")
    }
}

extension Page {
    /// Returns a page with a number of entities: 29 MB for 100,000.
    static func text(entities count: Int) -> Data {
        let cities = ["Köln", "Berlin", "São Paulo", "New York", "Łódź"]
        var text = #"{"@odata.context":"https://example.com/odata/$metadata#Products","@odata.count":\#(count),"value":["#
        for index in 0..<count {
            let category = index % 2 == 0 ? "null" : "\"Category \(index % 13)\""
            text += (index == 0 ? "" : ",") + #"{"ID":\#(index),"Name":"Product number \#(index) — \#(cities[index % 5])","#
            text += #""Description":"A \"fine\" thing, sold in boxes of \#(index % 97).\nHandle with care, please.","#
            text += #""Price":\#(Double(index % 10_000) / 100 + 0.25),"Rating":\#(index % 5),"Discontinued":\#(index % 3 == 0),"#
            text += #""ReleaseDate":"2012-12-\#(10 + index % 20)T07:16:23Z","Category":\#(category),"#
            text += #""Address":{"Street":"\#(index % 300) Main Street","City":"\#(cities[index / 5 % 5])"}}"#
        }
        return Data((text + #"],"@odata.nextLink":"Products?$skiptoken=\#(count)"}"#).utf8)
    }
}
