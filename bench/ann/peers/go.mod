module github.com/lightctl/lightrag/bench/ann/peers

go 1.26.0
