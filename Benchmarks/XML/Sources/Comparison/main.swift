import Foundation
import XMLCoder

// Prints how fast XMLCoder decodes the document of Benchmarks/streams, as a row of its table: `xml-comparison FILE ROUNDS`.

struct Catalogue: Decodable {
    let product: [Product]
}

struct Product: Decodable {
    let id: Int
    let name: String
    let price: Decimal
    let tag: [String]
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let rounds = Int(arguments[2]), rounds > 0 else {
    print("xml-comparison FILE ROUNDS")
    exit(64)
}
let document = try Data(contentsOf: URL(filePath: arguments[1]))
var times: [Double] = []
for _ in 0...rounds {
    let start = ContinuousClock.now
    let count = try XMLDecoder().decode(Catalogue.self, from: document).product.count
    times.append((ContinuousClock.now - start) / .microseconds(1))
    guard count == 5_000 else {
        print("xml-comparison: \(count) products")
        exit(1)
    }
}
// The first round isn't counted.
let median = times.dropFirst().sorted()[rounds / 2]
print("| XML into `Codable` types, XMLCoder | \(Int(Double(document.count) / median)) |")
