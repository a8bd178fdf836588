/// Places of records that the receiver has refused together, and what it said.
struct Suspect: Sendable {
    let piece: [Int]
    let status: Int?
    let reason: String
}
